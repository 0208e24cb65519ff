import Glibc
// Every suite that uses what is in this folder uses that, too.
@_exported import TestSupport

@testable import UVRunLoop

/// What a behaviour test runs its loop on.
enum DriverKind: CaseIterable, Sendable {
    /// Virtual time.
    case manual
    /// libuv and real time.
    case uv
}

/// Whether the tests run under the thread sanitizer, which has rules of its own for forked
/// children and for threads that end.
#if THREAD_SANITIZER
let isUnderThreadSanitizer = true
#else
let isUnderThreadSanitizer = false
#endif

/// Runs a test's body with a fresh loop as the calling thread's current one, and tears the loop
/// down afterwards.
func withLoop<Result>(
    _ kind: DriverKind,
    _ body: (UVRunLoop, EventLog) throws -> Result
) rethrows -> Result {
    try UVRunLoop.withLoop { word in
        switch kind {
        case .manual: ManualDriver(word: word)
        case .uv: try UVRunLoop.makeUVDriver(word)
        }
    } _: { loop in
        try body(loop, EventLog())
    }
}

/// What happened, in order.
final class EventLog: Sendable {
    private let log = Guarded<[String]>([])

    var entries: [String] { log.withLock { $0 } }

    func note(_ entry: String) { log.withLock { $0.append(entry) } }

    func clear() { log.withLock { $0 = [] } }

    /// Adds an observer that notes every activity it is told of.
    func observe(
        _ loop: UVRunLoop,
        _ activities: UVRunLoop.Activities = .all,
        in mode: UVRunLoop.Mode = .default,
        order: Int = 0,
        as name: String = ""
    ) {
        let observer = UVRunLoop.Observer(activities: activities, order: order) { _, activity in
            self.note(name + activity.name)
        }
        loop.add(observer, forMode: mode)
    }
}

extension UVRunLoop.Activities {
    /// The name of a single activity.
    var name: String {
        switch self {
        case .entry: "entry"
        case .beforeTimers: "beforeTimers"
        case .beforeSources: "beforeSources"
        case .beforeWaiting: "beforeWaiting"
        case .afterWaiting: "afterWaiting"
        case .exit: "exit"
        default: "several activities at once: \(rawValue)"
        }
    }
}

/// Has another thread do something when the loop's clock has advanced.
///
/// - Returns: What comes when it is done: a loop that it wakes may be ahead of what it does after that.
@discardableResult
func elsewhere(
    after delay: Duration,
    _ loop: UVRunLoop,
    _ action: @escaping @Sendable () -> Void
) -> Signal {
    let isDone = Signal()
    if let remote = loop.remote as? ManualRemote {
        remote.plan(after: delay.nanosecondsRoundedUp) {
            action()
            isDone.send()
        }
    } else {
        let thread = startThread {
            usleep(UInt32(delay.nanosecondsRoundedUp / 1000))
            // As in virtual time, it happens while the loop sleeps, however slow the machine is;
            // but a loop that never sleeps is not waited for.
            for _ in 0..<20_000 where !loop.isWaiting { usleep(100) }
            action()
            isDone.send()
        }
        pthread_detach(thread)
    }
    return isDone
}

/// Lets the loop's clock move on without a run.
func letTimePass(_ duration: Duration, _ loop: UVRunLoop) {
    let nanoseconds = duration.nanosecondsRoundedUp
    if let remote = loop.remote as? ManualRemote {
        remote.advance(to: remote.now + nanoseconds)
    } else {
        let end = loop.remote.now + nanoseconds
        while loop.remote.now < end { usleep(UInt32(max(0, end - loop.remote.now) / 1000 + 1)) }
    }
}

/// A mutable value behind a reference.
final class Box<Value> {
    var value: Value

    init(_ value: Value) { self.value = value }
}
