/// A command: its name, how many words it takes, and what carries it out.
struct Command {
    typealias Body = @Sendable (inout Interpreter, Request) throws -> Void

    /// What clients that ask want to know about a command.
    struct Traits: OptionSet {
        let rawValue: Int

        static let reads = Traits(rawValue: 1)
        static let writes = Traits(rawValue: 2)
        static let fast = Traits(rawValue: 4)
        static let admin = Traits(rawValue: 8)
    }

    /// Which words are keys: the first, the last (-1 is the last word), and the distance.
    enum Keys {
        case none
        case one
        case all
        case everyOther

        var places: (first: Int, last: Int, step: Int) {
            switch self {
            case .none: (0, 0, 0)
            case .one: (1, 1, 1)
            case .all: (1, -1, 1)
            case .everyOther: (1, -1, 2)
            }
        }
    }

    let name: String

    /// The number of words, the name included; negative when there may be more.
    let arity: Int

    let traits: Traits
    let keys: Keys
    let summary: String
    /// Carries it out; what it throws is a `CommandError`.
    let body: Body

    init(
        _ name: String,
        _ arity: Int,
        _ traits: Traits,
        _ keys: Keys,
        _ summary: String,
        body: @escaping Body
    ) {
        self.name = name
        self.arity = arity
        self.traits = traits
        self.keys = keys
        self.summary = summary
        self.body = body
    }

    /// Whether a request may have so many words.
    func accepts(_ words: Int) -> Bool { arity >= 0 ? words == arity : words >= -arity }
}
