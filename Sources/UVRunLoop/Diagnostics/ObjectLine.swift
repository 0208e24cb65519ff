/// One line about an object: its kind, its label, and facts.
struct ObjectLine {
    let kind: String
    let label: String?
    var facts: [String] = []

    /// `Timer "poll": in 1.2 s, every 500 ms`, in one line whatever the label is.
    var text: String { line(name) }

    /// The same, with the object's address.
    func text(with object: AnyObject) -> String {
        line("\(name) \(Self.address(of: object))")
    }

    private var name: String { label.map { "\(kind) \($0.debugDescription)" } ?? kind }

    private func line(_ name: String) -> String {
        facts.isEmpty ? name : "\(name): \(facts.joined(separator: ", "))"
    }

    private static func address(of object: AnyObject) -> String {
        UInt(bitPattern: ObjectIdentifier(object)).address
    }
}

extension UInt {
    /// The number as an address is written, in hexadecimal digits.
    var address: String { "0x\(String(self, radix: 16))" }
}
