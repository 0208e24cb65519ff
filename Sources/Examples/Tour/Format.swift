// How the tour formats numbers and times.

extension Int {
    /// Digits in groups of three: 35,149.
    var grouped: String {
        var text = ""
        for (index, digit) in String(magnitude).reversed().enumerated() {
            if index > 0 && index.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + String(text.reversed())
    }

    /// A count with its noun: "1 line", "2 lines".
    func of(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }
}

extension Duration {
    /// Seconds with two digits: "1.35 s".
    var inSeconds: String {
        let hundredths = Int((self / .milliseconds(10)).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) s"
    }

    /// Milliseconds with one digit: "12.3 ms".
    var inMilliseconds: String {
        let tenths = Int((self / .microseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

extension String {
    func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: Swift.max(0, width - count)) + self
    }

    func rightPadded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
