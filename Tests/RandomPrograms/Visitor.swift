import Glibc
import Synchronization
import TestSupport
import UVRunLoop
import UVRunLoopTesting

/// Has other threads do a program's visits while its loop sleeps.
///
/// In virtual time they come at their dates. In real time the next one comes when the loop has
/// fallen asleep, and one that stops it when there are none left: no program needs to wait.
struct Visitor {
    /// More runs than these do not have to be stopped by any program.
    private static let stops = 64

    private let thread: RunningThread?
    private let clock: UVRunLoop.VirtualClock?
    private let isOver: Signal

    init(_ library: Library, _ driver: WatchedDriver) {
        isOver = Signal()
        let visits = library.performance.program.visits
        guard let clock = library.clock else {
            let (isOver, counts, sleeper) = (isOver, driver.counts, Sleeper())
            clock = nil
            thread = startThread { Self.visit(library, sleeper, visits, counts, until: isOver) }
            return
        }
        thread = nil
        self.clock = clock
        for visit in visits {
            clock.after(.nanoseconds(visit.date)) {
                Self.perform(visit.actions, library)
                // The loop's thread waits for this one.
                library.flush()
            }
        }
        for _ in 0..<Self.stops { clock.after(.nanoseconds(Program.end)) { library.loop.stop() } }
    }

    /// Waits for the visiting thread, and forgets the visits that did not come.
    func finish() {
        clock?.forgetPlans()
        isOver.send()
        thread?.join()
    }

    private static func perform(_ actions: [Action], _ library: Library) {
        for action in actions { library.carryOutFromAnyThread(action) }
    }

    private static func visit(
        _ library: Library,
        _ sleeper: Sleeper,
        _ visits: [Visit],
        _ counts: WatchedDriver.Counts,
        until isOver: Signal
    ) {
        var visits = visits[...]
        var latestWait = 0
        while !isOver.hasCome {
            let wait = counts.begunWaits.load(ordering: .sequentiallyConsistent)
            guard wait > latestWait, library.loop.isWaiting, sleeper.isBlocked,
                wait == counts.begunWaits.load(ordering: .sequentiallyConsistent),
                wait > counts.endedWaits.load(ordering: .sequentiallyConsistent)
            else {
                usleep(20)
                continue
            }
            latestWait = wait
            if let visit = visits.popFirst() {
                perform(visit.actions, library)
            } else {
                library.loop.stop()
            }
        }
    }
}

/// A thread of this process of which others want to know whether the kernel keeps it waiting.
///
/// `isWaiting` alone does not tell: a loop is about to sleep, too, when the kernel will return at
/// once because a descriptor is ready.
private struct Sleeper {
    private let path: String

    /// The calling thread.
    init() {
        var bytes = [CChar](repeating: 0, count: 64)
        let length = readlink("/proc/thread-self", &bytes, bytes.count)
        let name = String(decoding: bytes.prefix(max(length, 0)).map(UInt8.init), as: UTF8.self)
        path = "/proc/\(name)/stat"
    }

    var isBlocked: Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let length = read(file, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(length, 0)), as: UTF8.self)
        // The name before the state may hold anything but is in parentheses.
        guard let end = text.lastIndex(of: ")") else { return false }
        return text[end...].hasPrefix(") S")
    }
}
