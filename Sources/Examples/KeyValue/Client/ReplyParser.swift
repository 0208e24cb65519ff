/// A reply, as parsed by the client.
indirect enum ReplyValue: Equatable {
    case status(String)
    case error(String)
    case integer(Int)
    case bulk([UInt8])
    case null
    case array([ReplyValue])

    /// The reply as text, one line for each part.
    var text: String {
        switch self {
        case .status(let text), .error(let text): text
        case .integer(let number): String(number)
        case .bulk(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null: "(nil)"
        case .array(let parts): parts.map(\.text).joined(separator: "\n")
        }
    }
}

/// Parses replies for the built-in client.
struct ReplyParser {
    /// The bytes are not a valid reply.
    struct Malformed: Error {}

    private var bytes: [UInt8] = []

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// The next reply, or `nil` until it is complete.
    mutating func next() throws(Malformed) -> ReplyValue? {
        var place = 0
        guard let value = try read(&place) else { return nil }
        bytes.removeFirst(place)
        return value
    }

    private func read(_ place: inout Int) throws(Malformed) -> ReplyValue? {
        guard let end = bytes[place...].firstIndex(of: 13), end + 1 < bytes.count else {
            return nil
        }
        guard place < end else { throw Malformed() }
        let kind = bytes[place]
        let line = bytes[place + 1..<end]
        place = end + 2
        switch kind {
        case UInt8(ascii: "+"): return .status(String(decoding: line, as: UTF8.self))
        case UInt8(ascii: "-"): return .error(String(decoding: line, as: UTF8.self))
        default: break
        }
        guard let number = line.decimalInteger else { throw Malformed() }
        switch kind {
        case UInt8(ascii: ":"): return .integer(number)
        case UInt8(ascii: "$"): return readBulk(number, &place)
        case UInt8(ascii: "*"): return try readArray(number, &place)
        default: throw Malformed()
        }
    }

    private func readBulk(_ length: Int, _ place: inout Int) -> ReplyValue? {
        guard length >= 0 else { return .null }
        guard bytes.count >= place + length + 2 else { return nil }
        let value = Array(bytes[place..<place + length])
        place += length + 2
        return .bulk(value)
    }

    private func readArray(_ count: Int, _ place: inout Int) throws(Malformed) -> ReplyValue? {
        guard count >= 0 else { return .null }
        var parts: [ReplyValue] = []
        for _ in 0..<count {
            guard let part = try read(&place) else { return nil }
            parts.append(part)
        }
        return .array(parts)
    }
}
