import Glibc
import Synchronization

@testable import UVRunLoop

/// A driver whose clock stands still until there is nothing to do, and then jumps to what comes
/// next.
///
/// Real descriptors are asked with poll(2) before the clock jumps. What other threads do at a
/// given time is done, on a real other thread, when the clock gets there.
final class ManualDriver: LoopDriver {
    typealias Events = UVRunLoop.DescriptorSource.Events

    let manualRemote = ManualRemote()
    private let word: WakeWord
    private var watched: [CInt: WatchOrder] = [:]
    private var ready: [Readiness] = []

    init(word: WakeWord) { self.word = word }

    var remote: any LoopRemote { manualRemote }

    func look() { ready = poll() }

    func wait(until moment: Moment?, now: Int64) {
        look()
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
            look()
        }
    }

    /// Nothing is planned in virtual time: only a descriptor or another thread can end this.
    private func waitForRealEvent() {
        for _ in 0..<20_000 where !manualRemote.takeKick() && ready.isEmpty {
            usleep(500)
            look()
        }
    }

    var readyCount: Int { ready.count }

    func forEachReady(_ body: (Readiness) -> Void) {
        let found = ready
        ready = []
        for report in found { body(report) }
    }

    func watch(
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

    func rearm(_ order: WatchOrder) -> Bool {
        watched[order.descriptor] = order.events == nil ? nil : order
        return true
    }

    func close() { manualRemote.releaseAll() }

    private func poll() -> [Readiness] {
        manualRemote.withReleased { released in
            for descriptor in released { watched[descriptor] = nil }
            released = []
        }
        return watched.values.sorted { $0.registration < $1.registration }.compactMap { order in
            let report = Self.report(of: order)
            return report.events.isEmpty ? nil : report
        }
    }

    private static func report(of order: WatchOrder) -> Readiness {
        var report = Readiness(
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

/// The virtual clock, and what other threads will do when it gets there.
final class ManualRemote: LoopRemote {
    struct Event {
        let date: Int64
        let number: Int
        let action: @Sendable () -> Void
    }

    private struct State {
        var now: Int64 = 1_000_000_000
        var events: [Event] = []
        var count = 0
        var wasKicked = false
        var released: Set<CInt> = []
        var taken: Set<CInt> = []
    }

    private let state = Guarded(State())

    var now: Int64 { state.withLock(\.now) }

    func kick() { state.withLock { $0.wasKicked = true } }

    func takeKick() -> Bool {
        state.withLock { state in
            defer { state.wasKicked = false }
            return state.wasKicked
        }
    }

    func take(_ descriptor: CInt) {
        if state.withLock({ $0.taken.insert(descriptor).inserted }) {
            try? BlockingFlags.take(descriptor)
        }
    }

    func release(_ descriptor: CInt, unless isWanted: () -> Bool) {
        guard !isWanted() else { return }
        let wasTaken = state.withLock { state in
            state.released.insert(descriptor)
            return state.taken.remove(descriptor) != nil
        }
        if wasTaken { BlockingFlags.giveBack(descriptor) }
    }

    func releaseAll() {
        for descriptor in state.withLock(\.taken) { release(descriptor) { false } }
    }

    func withReleased(_ body: (inout Set<CInt>) -> Void) {
        var released = state.withLock(\.released)
        body(&released)
        state.withLock { [released] in $0.released = released }
    }

    func advance(to date: Int64) { state.withLock { $0.now = max($0.now, date) } }

    func plan(after delay: Int64, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.count += 1
            state.events.append(
                Event(date: state.now + delay, number: state.count, action: action)
            )
        }
    }

    /// Takes the first event that is planned for a date or an earlier one.
    func takeEvent(until date: Int64) -> Event? {
        state.withLock { state in
            let next = state.events.indices.min {
                (state.events[$0].date, state.events[$0].number)
                    < (state.events[$1].date, state.events[$1].number)
            }
            guard let next, state.events[next].date <= date else { return nil }
            return state.events.remove(at: next)
        }
    }
}
