/// Executes commands against a keyspace.
///
/// It uses no socket, clock or file: it is given the time, writes replies into a buffer and returns
/// what only the server can do. The server keeps `facts` up to date.
struct Interpreter {
    var keyspace = Keyspace()
    var facts: Facts

    /// A client's declarations about itself.
    struct Client {
        let number: Int
        var name: [UInt8] = []
        /// The protocol version that it selected, 2 or 3.
        var version = 2
    }

    /// The server's work after a command.
    enum Effect: Equatable {
        /// Nothing: the reply is complete.
        case none
        /// Close the connection once the replies are sent.
        case close
        /// Close the connection at once: the client exceeded its output limit.
        case drop
        /// Write a snapshot, then reply.
        case save
        /// Shut down, with or without a final snapshot; `nil` leaves that to the server.
        case shutDown(saving: Bool?)
    }

    // The state of the current command: the server lends both while one client is served.
    var reply = Reply()
    var client = Client(number: 0)

    /// The current time, as set by the server.
    var now = WallTime(milliseconds: 0)

    /// The work that the current command requests from the server.
    var effect = Effect.none

    private var commands = CommandIndex(Command.all)

    init(facts: Facts) { self.facts = facts }

    /// Executes one command and appends its reply.
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

    /// Whether the request is HTTP, as from a browser that was tricked into sending it; nothing
    /// after it is executed.
    private func isForWebServer(_ request: Request) -> Bool {
        request.isWord(0, "POST") || request.isWord(0, "HOST:")
    }
}
