extension Duration {
    /// The duration with three digits and a unit: `12.3 ms`.
    package var words: String {
        let nanoseconds = nanosecondsRoundedUp
        let sign = nanoseconds < 0 ? "-" : ""
        let (value, unit) = Self.scaled(nanoseconds.magnitude)
        return "\(sign)\(value) \(unit)"
    }

    private static func scaled(_ nanoseconds: UInt64) -> (String, String) {
        switch nanoseconds {
        case ..<1_000: ("\(nanoseconds)", "ns")
        case ..<1_000_000: (decimal(nanoseconds, per: 1_000), "µs")
        case ..<1_000_000_000: (decimal(nanoseconds, per: 1_000_000), "ms")
        default: (decimal(nanoseconds, per: 1_000_000_000), "s")
        }
    }

    /// A quotient with three digits, or with the digits before the point if there are more.
    private static func decimal(_ number: UInt64, per unit: UInt64) -> String {
        let whole = number / unit
        let digits = whole >= 100 ? 0 : whole >= 10 ? 1 : 2
        guard digits > 0 else { return "\(whole)" }
        let scale: UInt64 = digits == 1 ? 10 : 100
        var fraction = "\(number % unit * scale / unit)"
        while fraction.count < digits { fraction = "0" + fraction }
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return fraction.isEmpty ? "\(whole)" : "\(whole).\(fraction)"
    }
}
