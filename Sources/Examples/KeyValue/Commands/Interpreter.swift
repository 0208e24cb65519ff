/// What commands act on, and how one is carried out.
///
/// It knows no socket, no clock and no file: it is told the time, writes replies into memory and
/// answers what only the server can do. The server keeps its facts up to date.
struct Interpreter {
    var keyspace = Keyspace()
    var facts: Facts

    /// What a client has told about itself.
    struct Client {
        let number: Int
        var name: [UInt8] = []
        /// The version of the protocol that it has asked for, 2 or 3.
        var version = 2
    }

    /// What the server has to do after a command.
    enum Effect: Equatable {
        /// Nothing: the reply is complete.
        case none
        /// End the connection when the replies are sent.
        case close
        /// End the connection at once: its client would get more than it may.
        case drop
        /// Write a snapshot, and reply then.
        case save
        /// End the server, with or without a snapshot first; `nil` leaves that to the server.
        case shutDown(saving: Bool?)
    }

    // What the command at hand has: the server lends both for as long as one client has its turn.
    var reply = Reply()
    var client = Client(number: 0)

    /// The time, as the server last said.
    var now = WallTime(milliseconds: 0)

    /// What the command at hand asks of the server.
    var effect = Effect.none

    private var commands = CommandIndex(Command.all)

    init(facts: Facts) { self.facts = facts }

    /// Carries out one command and writes its reply behind the earlier ones.
    mutating func run(_ request: Request) -> Effect {
        facts.commandsProcessed += 1
        effect = .none
        do {
            guard let command = commands[request[0]] else {
                if isForWebServer(request) { effect = .close }
                throw CommandError.unknownCommand(request)
            }
            guard command.accepts(request.count) else {
                throw CommandError.wordCount(of: command.name)
            }
            try command.body(&self, request)
        } catch {
            reply.error((error as? CommandError)?.text ?? "ERR \(error)")
        }
        return effect
    }

    /// Whether a browser was made to talk to us: then nothing that follows is carried out.
    private func isForWebServer(_ request: Request) -> Bool {
        request.isWord(0, "POST") || request.isWord(0, "HOST:")
    }
}
