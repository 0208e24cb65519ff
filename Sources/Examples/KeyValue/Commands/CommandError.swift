/// An error of one command; the connection stays open.
enum CommandError: Error {
    case unknownCommand(Request)
    case wordCount(of: String)
    case syntax
    case notAnInteger
    case overflow
    case negatedOverflow
    case expiryTime(of: String)
    case valueTooLong
    case cursor
    case database
    case noPassword
    case wrongPassword
    case protocolVersion
    case subcommand(of: String, String)
    case expiryOptions
    case expiryComparison
    case option(String)
    case clientName
    case pattern

    /// The error text.
    ///
    /// Clients compare it, so it is Redis's.
    var text: String {
        switch self {
        case .unknownCommand(let request): Self.unknownCommand(request)
        case .wordCount(let name): "ERR wrong number of arguments for '\(name)' command"
        case .syntax: "ERR syntax error"
        case .notAnInteger: "ERR value is not an integer or out of range"
        case .overflow: "ERR increment or decrement would overflow"
        case .negatedOverflow: "ERR decrement would overflow"
        case .expiryTime(let name): "ERR invalid expire time in '\(name)' command"
        case .valueTooLong: "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
        case .cursor: "ERR invalid cursor"
        case .database: "ERR DB index is out of range"
        case .noPassword:
            "ERR AUTH <password> called without any password configured for the default user. "
                + "Are you sure your configuration is correct?"
        case .wrongPassword: "WRONGPASS invalid username-password pair or user is disabled."
        case .protocolVersion: "NOPROTO unsupported protocol version"
        case .subcommand(let name, let word):
            "ERR unknown subcommand '\(word.prefix(128))'. Try \(name) HELP."
        case .expiryOptions:
            "ERR NX and XX, GT or LT options at the same time are not compatible"
        case .expiryComparison: "ERR GT and LT options at the same time are not compatible"
        case .option(let word): "ERR Unsupported option \(word)"
        case .clientName:
            "ERR Client names cannot contain spaces, newlines or special characters."
        case .pattern: "ERR matching this pattern takes too long"
        }
    }

    /// Quotes the beginning of the request, so that a misspelling can be seen.
    private static func unknownCommand(_ request: Request) -> String {
        var arguments = ""
        for word in 1..<request.count where arguments.utf8.count < 128 {
            let room = 128 - arguments.utf8.count
            arguments += "'\(String(decoding: request[word].prefix(room), as: UTF8.self))' "
        }
        let name = String(decoding: request[0].prefix(128), as: UTF8.self)
        return "ERR unknown command '\(name)', with args beginning with: \(arguments)"
    }
}
