import UVRunLoop

/// The loops' clock, in nanoseconds of the kernel's monotonic one.
enum Clock {
    private static let epoch = SuspendingClock().systemEpoch

    static func instant(_ nanoseconds: Int64) -> UVRunLoop.Instant {
        epoch.advanced(by: .nanoseconds(nanoseconds))
    }

    static func nanoseconds(_ instant: UVRunLoop.Instant) -> Int64 {
        let (seconds, attoseconds) = epoch.duration(to: instant).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
