import FoundationEssentials
import Glibc
import Synchronization
import UVRunLoopFoundation

/// Runs a test's body with a fresh loop as the calling thread's current one, and tears the loop
/// down afterwards.
func withLoop<Result>(_ body: (UVRunLoop) throws -> Result) rethrows -> Result {
    try UVRunLoop.withLoop { word in
        do {
            return try UVRunLoop.makeUVDriver(word)
        } catch {
            preconditionFailure("No loop could be made: \(error)")
        }
    } _: { loop in
        try body(loop)
    }
}

/// What happened, in order.
final class EventLog: Sendable {
    private let log = Mutex<[String]>([])

    var entries: [String] { log.withLock { $0 } }

    func note(_ entry: String) { log.withLock { $0.append(entry) } }
}

/// Lets time pass without a run.
func letTimePass(_ interval: TimeInterval) {
    let end = SuspendingClock.now + .milliseconds(Int(interval * 1000))
    while SuspendingClock.now < end { usleep(500) }
}

/// Has another thread do something, and waits for it.
func onAnotherThread(_ action: @escaping @Sendable () -> Void) {
    pthread_join(startThread(action), nil)
}

/// Has another thread do something as soon as a loop sleeps.
func whenAsleep(_ loop: UVRunLoop, _ action: @escaping @Sendable () -> Void) {
    let thread = startThread {
        for _ in 0..<50_000 where !loop.isWaiting { usleep(100) }
        action()
    }
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
}

func startThread(_ action: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let body = Unmanaged.passRetained(ThreadBody(action)).toOpaque()
    let status = pthread_create(
        &thread,
        nil,
        { body in
            if let body { Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().action() }
            return nil
        },
        body
    )
    precondition(status == 0, "No thread could be started.")
    return thread
}
