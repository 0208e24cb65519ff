import Glibc
import UVRunLoop

/// The time by the kernel's monotonic clock, asked for without the library's help.
enum Clock {
    private static let epoch = SuspendingClock().systemEpoch

    /// Nanoseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func instant(_ nanoseconds: Int64) -> UVRunLoop.Instant {
        epoch.advanced(by: .nanoseconds(nanoseconds))
    }

    static func nanoseconds(_ instant: UVRunLoop.Instant) -> Int64 {
        let (seconds, attoseconds) = epoch.duration(to: instant).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
