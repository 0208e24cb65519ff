import UVRunLoop
import UVRunLoopPorts

/// The parsed command line.
struct Invocation {
    enum Command: Equatable {
        case serve(UVRunLoop.SocketAddress)
        case client(UVRunLoop.SocketAddress, lines: [String])
        case help
    }

    /// The arguments are wrong.
    struct Misuse: Error {
        let sentence: String
    }

    static let usage = """
        Usage: Tally serve [--limit SECONDS] ADDRESS
               Tally client [--limit SECONDS] ADDRESS [LINE …]

        Adds up numbers by name for its clients, or sends lines to such a service and prints
        the answers. Without a LINE the client sends those of standard input.

        The lines are `add NAME N`, `total NAME` and `quit`. ADDRESS is a numeric host and a
        port, such as 127.0.0.1:7000 or [::1]:7000, or a path with a slash. At port 0 the system
        chooses one.

          --limit SECONDS   how long a client may be silent (60), or the service (5)

        SIGTERM and SIGINT end the service when all requests are answered; it then prints the
        totals. A second signal ends it at once.
        """

    let command: Command
    /// The limit that is given.
    private(set) var limit: Duration?

    /// Parses the arguments after the program's name.
    init(_ arguments: ArraySlice<String>) throws(Misuse) {
        var rest = arguments
        let name = rest.popFirst()
        if name == "--help" || name == "-h" {
            command = .help
            return
        }
        guard let name, ["serve", "client"].contains(name) else {
            throw Misuse(sentence: "expected serve or client")
        }
        if rest.first == "--limit" {
            guard let seconds = rest.dropFirst().first.flatMap(Double.init), 0.001...1e6 ~= seconds
            else { throw Misuse(sentence: "--limit takes a number of seconds") }
            limit = .seconds(seconds)
            rest = rest.dropFirst(2)
        }
        guard let address = rest.popFirst() else { throw Misuse(sentence: "expected an address") }
        if name == "serve" {
            if let more = rest.first { throw Misuse(sentence: "\(more) is one argument too many") }
            command = .serve(try Self.address(address))
        } else {
            command = .client(try Self.address(address), lines: Array(rest))
        }
    }

    private static func address(_ text: String) throws(Misuse) -> UVRunLoop.SocketAddress {
        do {
            if text.contains("/") { return try UVRunLoop.SocketAddress(unixPath: text) }
            guard let colon = text.lastIndex(of: ":"),
                let port = UInt16(text[text.index(after: colon)...])
            else { throw Misuse(sentence: "\(text) has no port from 0 to 65535") }
            let host = text[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
            return try UVRunLoop.SocketAddress(host: String(host), port: port)
        } catch let misuse as Misuse {
            throw misuse
        } catch {
            throw Misuse(sentence: "\(text): \(error)")
        }
    }
}
