import Glibc
import Results

/// Numbers as people read them.
enum Figures {
    /// Between a number and its unit, where no line may end.
    private static let space = "\u{A0}"

    /// A value with its unit, to three digits: "1.23 µs", "13.6 M/s".
    static func text(_ value: Double, _ unit: Unit) -> String {
        let (scaled, suffix) = scaled(value, unit)
        return threeDigits(scaled) + space + suffix
    }

    /// A tick with its unit, without zeros at its end: "1 µs".
    static func tick(_ value: Double, _ unit: Unit) -> String {
        guard value != 0 else { return "0" }
        let (scaled, suffix) = scaled(value, unit)
        return (scaled < 1_000 ? trimmed(scaled) : grouped(scaled)) + space + suffix
    }

    /// Two values with their unit, which they share where they can: "1.20 to 1.31 µs".
    static func range(_ values: ClosedRange<Double>, _ unit: Unit) -> String {
        let (low, lowSuffix) = scaled(values.lowerBound, unit)
        let (high, highSuffix) = scaled(values.upperBound, unit)
        let first = threeDigits(low) + (lowSuffix == highSuffix ? "" : space + lowSuffix)
        return "\(first) to \(threeDigits(high))\(space)\(highSuffix)"
    }

    /// A number of things: 8,000 as "8 k", 1,024 as "1,024".
    static func size(_ value: Double) -> String {
        let (scaled, suffix) = thousands(value)
        guard scaled * 10 == (scaled * 10).rounded() else { return grouped(value) }
        return suffix.isEmpty ? trimmed(scaled) : trimmed(scaled) + space + suffix
    }

    /// How many times as much: "2.4 ×".
    static func times(_ ratio: Double) -> String { threeDigits(ratio) + space + "×" }

    /// A count of system calls: "2", "0.5".
    static func count(_ value: Double) -> String { trimmed(value) }

    /// The name of a percentile: "p99.9".
    static func percentile(_ percent: Double) -> String { "p\(trimmed(percent))" }

    /// A share in percent: "99.9 %".
    static func percent(_ value: Double) -> String { trimmed(value) + space + "%" }

    /// A place or length in a drawing, to a tenth.
    static func pixels(_ value: Double) -> String { trimmed(value, decimals: 1) }

    /// Three digits, or all that stand before the point: "0.12", "3.15", "31.5", "315", "3,150".
    static func threeDigits(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        return switch abs(value) {
        case ..<9.995: fixed(value, decimals: 2)
        case ..<99.95: fixed(value, decimals: 1)
        default: grouped(value)
        }
    }

    /// With a given number of digits after the point.
    static func fixed(_ value: Double, decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "–" }
        let power = Int(pow(10, Double(decimals)))
        let units = Int((abs(value) * Double(power)).rounded())
        let sign = value < 0 && units > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(units) }
        let rest = String(units % power)
        let zeros = String(repeating: "0", count: decimals - rest.count)
        return "\(sign)\(units / power).\(zeros)\(rest)"
    }

    private static func trimmed(_ value: Double, decimals: Int = 3) -> String {
        var text = fixed(value, decimals: decimals)
        guard text.contains(".") else { return text }
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }

    private static func grouped(_ value: Double) -> String {
        let digits = Array(fixed(value, decimals: 0))
        return digits.indices.reduce(into: "") { text, index in
            let following = digits.count - index
            if index > 0, following.isMultiple(of: 3), digits[index - 1] != "-" { text += "," }
            text.append(digits[index])
        }
    }

    private static func scaled(_ value: Double, _ unit: Unit) -> (Double, String) {
        switch unit {
        case .nanoseconds: time(value)
        case .perSecond: (thousands(value).0, thousands(value).1 + "/s")
        case .bytes: (value, "B")
        case .wakeUpsPerSecond: (value, "/s")
        }
    }

    private static func time(_ nanoseconds: Double) -> (Double, String) {
        switch abs(nanoseconds) {
        case ..<999.5: (nanoseconds, "ns")
        case ..<999_500: (nanoseconds / 1e3, "µs")
        case ..<999_500_000: (nanoseconds / 1e6, "ms")
        default: (nanoseconds / 1e9, "s")
        }
    }

    private static func thousands(_ value: Double) -> (Double, String) {
        switch abs(value) {
        case ..<999.5: (value, "")
        case ..<999_500: (value / 1e3, "k")
        case ..<999_500_000: (value / 1e6, "M")
        default: (value / 1e9, "G")
        }
    }
}
