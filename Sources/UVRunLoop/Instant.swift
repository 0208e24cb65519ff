extension UVRunLoop {
    /// A moment of a loop's clock: monotonic, and standing still while the system is suspended.
    public typealias Instant = SuspendingClock.Instant
}

extension SuspendingClock.Instant {
    /// Nanoseconds since the clock's epoch, rounded up to whole ones: a timer set for this moment
    /// is never early.
    ///
    /// Moments too far away become the nearest that can be written down.
    var nanoseconds: Int64 {
        Self.epoch.duration(to: self).nanosecondsRoundedUp
    }

    init(nanoseconds: Int64) {
        self = Self.epoch.advanced(by: .nanoseconds(nanoseconds))
    }

    private static let epoch = SuspendingClock().systemEpoch
}

extension Duration {
    /// Whole nanoseconds, rounded up, or the nearest number there is.
    var nanosecondsRoundedUp: Int64 {
        // 292 years. `components` traps for durations that have more seconds than an Int64 holds.
        let longest: Duration = .nanoseconds(Int64.max)
        guard self < longest else { return .max }
        guard self > .zero - longest else { return .min }
        let (seconds, attoseconds) = components
        let (part, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * 1_000_000_000 + part + (rest > 0 ? 1 : 0)
    }
}
