extension UVRunLoop {
    /// A point in time of a loop's clock, which is monotonic and stops while the system is
    /// suspended.
    public typealias Instant = SuspendingClock.Instant
}

extension SuspendingClock.Instant {
    /// Nanoseconds since the clock's epoch, rounded up so that a timer is never early.
    ///
    /// An instant that does not fit becomes the nearest that does.
    package var nanoseconds: Int64 {
        InstantLayout.sinceEpoch(self).nanosecondsRoundedUp
    }

    package init(nanoseconds: Int64) {
        self = Self.epoch.advanced(by: .nanoseconds(nanoseconds))
    }

    static let epoch = SuspendingClock().systemEpoch
}

extension Duration {
    /// Whole nanoseconds, rounded up; the nearest number that fits if the duration is too long.
    package var nanosecondsRoundedUp: Int64 {
        let (high, low) = (
            UInt64(truncatingIfNeeded: attoseconds >> 64), UInt64(truncatingIfNeeded: attoseconds)
        )
        guard high < 500_000_000 else { return unusualNanosecondsRoundedUp }
        // The division is a multiplication by the reciprocal of a billion, 2^93 / 10^9 rounded down.
        // Neither that nor the omission of the lowest 29 bits makes the quotient too large, and each
        // makes it too small by less than one: the rest is less than three billions.
        let billion: UInt64 = 1_000_000_000
        let quotient = (high << 35 | low >> 29).multipliedFullWidth(by: 9_903_520_314_283_042_199)
            .high
        let rest = low &- quotient &* billion
        return Int64(clamping: quotient &+ (rest &+ billion &- 1) / billion)
    }

    /// The same for negative durations, and for those of 292 years and more.
    private var unusualNanosecondsRoundedUp: Int64 {
        @inline(never)
        get {
            guard self < .zero else { return .max }
            guard self > .zero - .nanoseconds(Int64.max) else { return .min }
            return Int64(attoseconds / 1_000_000_000)
        }
    }
}
