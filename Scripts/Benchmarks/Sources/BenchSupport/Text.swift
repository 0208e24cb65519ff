/// Numbers as people read them.
package enum Text {
    /// With commas between thousands.
    package static func grouped(_ number: Int) -> String {
        let digits = Array(String(abs(number)))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// With so many digits after the point.
    package static func decimal(_ number: Double, _ places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((number * scale).rounded())
        guard places > 0 else { return "\(scaled)" }
        let (whole, part) = abs(scaled).quotientAndRemainder(dividingBy: Int(scale))
        let digits = String(part)
        let zeros = String(repeating: "0", count: places - digits.count)
        return "\(scaled < 0 ? "-" : "")\(whole).\(zeros)\(digits)"
    }

    /// Bytes as mebibytes.
    package static func mebibytes(_ bytes: Int) -> String {
        decimal(Double(bytes) / 1_048_576, 2) + " MiB"
    }

    /// A column, its text at the right.
    package static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// A column, its text at the left.
    package static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
