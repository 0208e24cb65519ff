extension Int64 {
    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

extension Duration {
    /// Whole nanoseconds, rounded up; the nearest number there is for what is too long.
    var saturatingNanoseconds: Int64 {
        guard self < .nanoseconds(Int64.max) else { return .max }
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (part, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * 1_000_000_000 + part + (rest > 0 ? 1 : 0)
    }

    /// The moment of the monotonic clock that is so far away.
    var fromNow: Int64 { monotonicNow().addingSaturating(saturatingNanoseconds) }
}
