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
    package var nanosecondsRoundedUp: Int64 {
        // An Int128 is divided by a library call; what is not negative and shorter than 584 years,
        // by an instruction.
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
        // 292 years.
        guard self > .zero - .nanoseconds(Int64.max) else { return .min }
        return Int64(attoseconds / 1_000_000_000)
    }
}
