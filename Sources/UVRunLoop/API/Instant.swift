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
        // A nanosecond is 2^9 times 5^9 attoseconds. Divided by that power of five in two digits of
        // 32 bits, which is two multiplications, a duration takes 12 ns; by the library's division
        // of an Int128 it took 15.
        guard high < 500_000_000 else {
            return self < .zero ? negativeNanosecondsRoundedUp : .max
        }
        let fives: UInt64 = 1_953_125
        let (upper, lower) = (high << 23 | low >> 41, low >> 9 & 0xFFFF_FFFF)
        let (first, rest) = upper.quotientAndRemainder(dividingBy: fives)
        let (second, last) = (rest << 32 | lower).quotientAndRemainder(dividingBy: fives)
        let isWhole = last == 0 && low & 0x1FF == 0
        return Int64(clamping: (first << 32) + second + (isWhole ? 0 : 1))
    }

    private var negativeNanosecondsRoundedUp: Int64 {
        // The limit is 292 years.
        guard self > .zero - .nanoseconds(Int64.max) else { return .min }
        return Int64(attoseconds / 1_000_000_000)
    }
}
