/// Why a client's bytes are no command; the connection ends after it was told.
enum ProtocolError: Error, Equatable {
    case headerTooLong
    case wordHeaderTooLong
    case inlineTooLong
    case badWordCount
    case expectedWord(instead: UInt8)
    case badWordLength
    case unbalancedQuotes
    case queryTooLong

    /// What the client reads, in the words that clients know from Redis.
    var text: String {
        switch self {
        case .headerTooLong: "ERR Protocol error: too big mbulk count string"
        case .wordHeaderTooLong: "ERR Protocol error: too big bulk count string"
        case .inlineTooLong: "ERR Protocol error: too big inline request"
        case .badWordCount: "ERR Protocol error: invalid multibulk length"
        case .expectedWord(let byte):
            "ERR Protocol error: expected '$', got '\(Self.printable(byte))'"
        case .badWordLength: "ERR Protocol error: invalid bulk length"
        case .unbalancedQuotes: "ERR Protocol error: unbalanced quotes in request"
        case .queryTooLong: "ERR Protocol error: too big query"
        }
    }

    /// A byte that may be sent inside a reply of one line.
    private static func printable(_ byte: UInt8) -> Character {
        32..<127 ~= byte ? Character(Unicode.Scalar(byte)) : " "
    }
}
