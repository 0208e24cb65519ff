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

extension UInt {
    /// The number as an address is written, in hexadecimal digits.
    var address: String { "0x\(String(self, radix: 16))" }
}

/// One line about an object: its kind, its label, and facts.
struct ObjectLine {
    let kind: String
    let label: String?
    var facts: [String] = []

    /// `Timer "poll": in 1.2 s, every 500 ms`.
    var text: String { line(name) }

    /// The line with one fact more.
    func with(_ fact: String) -> ObjectLine {
        var line = self
        line.facts.append(fact)
        return line
    }

    /// The same, with the object's address.
    func text(with object: AnyObject) -> String {
        line("\(name) \(Self.address(of: object))")
    }

    private var name: String { label.map { "\(kind) \"\($0)\"" } ?? kind }

    private func line(_ name: String) -> String {
        facts.isEmpty ? name : "\(name): \(facts.joined(separator: ", "))"
    }

    private static func address(of object: AnyObject) -> String {
        UInt(bitPattern: ObjectIdentifier(object)).address
    }
}
