import Glibc
import UVRunLoop
import UVRunLoopTesting

/// The driver that a behaviour test runs its loop on.
package enum DriverKind: CaseIterable, Sendable {
    /// Virtual time.
    case manual
    /// libuv and real time.
    case uv

    fileprivate func makeDriver(_ wakeState: WakeState) -> any LoopDriver {
        do {
            switch self {
            case .manual:
                return try VirtualDriver(wakeState: wakeState, clock: UVRunLoop.VirtualClock())
            case .uv: return try UVRunLoop.makeUVDriver(wakeState)
            }
        } catch {
            preconditionFailure("No loop could be made: \(error)")
        }
    }
}

/// Runs a test's body with a fresh loop as the calling thread's current one, and tears the loop
/// down afterwards.
package func withLoop<Result>(
    _ kind: DriverKind,
    _ body: (UVRunLoop, EventLog) throws -> Result
) rethrows -> Result {
    try UVRunLoop.withLoop {
        kind.makeDriver($0)
    } _: { loop in
        try body(loop, EventLog())
    }
}

/// Runs a test's body with a fresh loop on libuv.
package func withLoop<Result>(_ body: (UVRunLoop) throws -> Result) rethrows -> Result {
    try withLoop(.uv) { loop, _ in try body(loop) }
}

/// Lets real time pass.
package func letTimePass(_ duration: Duration) {
    let end = UVRunLoop.Instant.now + duration
    while case let rest = UVRunLoop.Instant.now.duration(to: end), rest > .zero {
        usleep(UInt32(rest.nanosecondsRoundedUp / 1_000 + 1))
    }
}

/// The virtual clock of a loop; `nil` in real time.
package func virtualClock(of loop: UVRunLoop) -> UVRunLoop.VirtualClock? {
    (loop.remote as? VirtualRemote)?.clock
}

/// Waits until a condition holds.
///
/// - Parameters:
///   - seconds: How long at most.
///   - pause: How many microseconds to wait between two checks.
///   - holds: The condition.
/// - Returns: Whether it holds.
@discardableResult
package func awaitCondition(
    seconds: Int = 60,
    pause: UInt32 = 100,
    _ holds: () throws -> Bool
) rethrows -> Bool {
    let end = UVRunLoop.Instant.now + .seconds(seconds)
    while try !holds() {
        if UVRunLoop.Instant.now >= end { return false }
        usleep(pause)
    }
    return true
}

/// Waits until a loop sleeps, but no longer than so many seconds.
package func awaitSleep(of loop: UVRunLoop, seconds: Int = 60) {
    awaitCondition(seconds: seconds) { loop.isWaiting }
}

/// Has another thread do something as soon as a loop sleeps.
package func whenAsleep(_ loop: UVRunLoop, _ action: @escaping @Sendable () -> Void) {
    let thread = startThread {
        awaitSleep(of: loop)
        action()
    }
    thread.detach()
}

extension UVRunLoop {
    /// Serves sources until so much is noted.
    package func run(until log: EventLog, has count: Int) {
        while log.count < count {
            run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
        }
    }
}

/// Has a loop of the calling thread perform two blocks, the first of which forks and returns in the
/// child, too.
///
/// - Returns: Whether the child has trapped before the second, and the parent has performed both.
package func aBlockTrapsInAForkedChild(of loop: UVRunLoop) -> Bool {
    let (fork, log) = (FirstFork(), EventLog())
    for name in ["first", "second"] {
        loop.perform {
            fork.callHandler()
            log.note(name)
        }
    }
    loop.run(mode: .default, for: .milliseconds(1))
    return fork.hasTrapped && log.entries == ["first", "second"]
}
