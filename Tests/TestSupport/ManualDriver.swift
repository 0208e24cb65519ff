import Glibc
import Synchronization

import UVRunLoop

/// A driver whose clock stands still until there is nothing to do, and then jumps to what comes
/// next.
///
/// Real descriptors are asked with poll(2) before the clock jumps. What other threads do at a
/// given time is done, on a real other thread, when the clock gets there.
package final class ManualDriver: LoopDriver {
    package let manualRemote = ManualRemote()
    private let word: WakeState
    private var watched: [CInt: WatchOrder] = [:]
    private var ready: [ReadyReport] = []

    package init(word: WakeState) { self.word = word }

    package var remote: any LoopRemote { manualRemote }

    package func poll() { ready = findReady() }

    package func wait(until moment: Moment?, now: Int64) {
        poll()
        guard ready.isEmpty, word.fallAsleep() else { return }
        defer { word.awaken() }
        _ = manualRemote.takeKick()
        while ready.isEmpty, !manualRemote.takeKick() {
            guard let event = manualRemote.takeEvent(until: moment?.date ?? .max) else {
                if let moment { return manualRemote.advance(to: moment.date) }
                return waitForRealEvent()
            }
            manualRemote.advance(to: event.date)
            onAnotherThread(event.action)
            poll()
        }
    }

    /// Nothing is planned in virtual time: only a descriptor or another thread can end this.
    private func waitForRealEvent() {
        for _ in 0..<20_000 where !manualRemote.takeKick() && ready.isEmpty {
            usleep(500)
            poll()
        }
    }

    package var readyCount: Int { ready.count }

    package func forEachReady(_ body: (ReadyReport) -> Void) {
        let found = ready
        ready = []
        for report in found { body(report) }
    }

    package func watch(
        _ orders: [WatchOrder],
        ifCurrent isCurrent: (WatchOrder) -> Bool,
        refused: (WatchOrder) -> Void
    ) {
        manualRemote.withReleased { $0.removeAll() }
        for order in orders where isCurrent(order) {
            let flags = fcntl(order.descriptor, F_GETFL)
            guard flags >= 0 else {
                refused(order)
                continue
            }
            manualRemote.take(order.descriptor)
            watched[order.descriptor] = order
        }
    }

    package func rearm(_ order: WatchOrder) -> Bool {
        watched[order.descriptor] = order.events == nil ? nil : order
        return true
    }

    package func close() { manualRemote.releaseAll() }

    private func findReady() -> [ReadyReport] {
        manualRemote.withReleased { released in
            for descriptor in released { watched[descriptor] = nil }
            released = []
        }
        return watched.values.sorted { $0.registration < $1.registration }.compactMap { order in
            let report = Self.report(of: order)
            return report.events.isEmpty ? nil : report
        }
    }

    private static func report(of order: WatchOrder) -> ReadyReport {
        var report = ReadyReport(
            descriptor: order.descriptor,
            registration: order.registration,
            events: []
        )
        let wanted = order.events ?? []
        var asked: Int32 = 0
        if wanted.contains(.readable) { asked |= POLLIN }
        if wanted.contains(.writable) { asked |= POLLOUT }
        var state = pollfd(fd: order.descriptor, events: Int16(asked), revents: 0)
        guard Glibc.poll(&state, 1, 0) > 0 else { return report }
        let answer = Int32(state.revents)
        if answer & POLLIN != 0 { report.events.insert(.readable) }
        if answer & POLLOUT != 0 { report.events.insert(.writable) }
        if answer & (POLLERR | POLLNVAL | POLLHUP) != 0 { report.events.insert(.hangUp) }
        report.hasUnread = answer & POLLIN != 0 && answer & (POLLERR | POLLNVAL) == 0
        return report
    }
}
