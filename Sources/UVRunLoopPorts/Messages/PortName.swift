/// The name of a message port, and its encoding as a file name.
///
/// Names are compared by bytes. In a file name, letters, digits, `.`, `_` and `-` are unchanged,
/// and every other byte is `%` with two digits, so different names have different files.
struct PortName: Hashable, Sendable {
    let text: String
    /// The name encoded as a part of a file name.
    let stem: String

    /// Validates a name.
    init(_ name: String) throws(MessagePortError) {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw .invalidName }
        text = name
        stem = Self.escaped(name.utf8)
    }

    /// A random name that is unique and unguessable.
    static func unguessable() -> PortName {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return PortName(plain: unguessablePrefix + digits.joined())
    }

    /// The unguessable name that a file belongs to; `nil` for any other file.
    init?(ofReplyFile file: String) {
        guard let stem = PortFiles.stem(of: file),
            stem.utf8.starts(with: Self.unguessablePrefix.utf8)
        else { return nil }
        let digits = stem.utf8.dropFirst(Self.unguessablePrefix.utf8.count)
        guard digits.count == 32, digits.allSatisfy(Self.isDigit) else { return nil }
        self.init(plain: String(stem))
    }

    private static let unguessablePrefix = "reply-"

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }

    /// A name without escapes.
    private init(plain: String) {
        text = plain
        stem = plain
    }

    static func == (left: PortName, right: PortName) -> Bool { left.stem == right.stem }

    func hash(into hasher: inout Hasher) { hasher.combine(stem) }

    private static func escaped(_ bytes: String.UTF8View) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if isPlain(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
