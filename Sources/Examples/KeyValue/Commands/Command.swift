/// A command: its name, its arity, and its implementation.
struct Command {
    typealias Body = @Sendable (inout Interpreter, Request) throws -> Void

    /// The flags that COMMAND reports.
    struct Traits: OptionSet {
        let rawValue: Int

        static let reads = Traits(rawValue: 1)
        static let writes = Traits(rawValue: 2)
        static let fast = Traits(rawValue: 4)
        static let admin = Traits(rawValue: 8)
    }

    /// Which arguments are keys: the first, the last (-1 is the last argument), and the step.
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

    /// The number of words including the name; negative if it is a minimum.
    let arity: Int

    let traits: Traits
    let keys: Keys
    let summary: String
    /// Executes the command.
    ///
    /// It throws a `CommandError`.
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

    /// Whether a request may have this number of words.
    func accepts(_ words: Int) -> Bool { arity >= 0 ? words == arity : words >= -arity }
}
