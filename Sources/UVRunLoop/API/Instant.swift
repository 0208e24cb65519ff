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
        // A library call divides an Int128; for a duration of less than 584 years that is not
        // negative, one instruction is enough.
        let perNanosecond: UInt64 = 1_000_000_000
        let (high, low) = (
            UInt64(truncatingIfNeeded: attoseconds >> 64), UInt64(truncatingIfNeeded: attoseconds)
        )
        guard high < perNanosecond else {
            return self < .zero ? negativeNanosecondsRoundedUp : .max
        }
        let (whole, rest) = perNanosecond.dividingFullWidth((high, low))
        return Int64(clamping: rest > 0 ? whole + 1 : whole)
    }

    private var negativeNanosecondsRoundedUp: Int64 {
        // The limit is 292 years.
        guard self > .zero - .nanoseconds(Int64.max) else { return .min }
        return Int64(attoseconds / 1_000_000_000)
    }
}
