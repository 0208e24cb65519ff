/// A violation of the protocol; the connection is closed after the error is sent.
enum ProtocolError: Error, Equatable {
    case headerTooLong
    case wordHeaderTooLong
    case inlineTooLong
    case badWordCount
    case expectedWord(instead: UInt8)
    case badWordLength
    case unbalancedQuotes
    case queryTooLong

    /// The error text, with Redis's wording.
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

    /// A byte that is allowed inside a one-line reply.
    private static func printable(_ byte: UInt8) -> Character {
        32..<127 ~= byte ? Character(Unicode.Scalar(byte)) : " "
    }
}
