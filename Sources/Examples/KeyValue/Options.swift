import Glibc

/// The parsed command line.
struct Options {
    var port: UInt16 = 6379
    var addresses: [String] = []
    var socketPath: String?
    var directory: String?
    var mostClients = 10_000

    /// With `--client`: the words of a command to send instead of serving.
    var command: [String]?

    /// Parses the arguments after the program's name; ends the program if they are invalid.
    init(arguments: ArraySlice<String>) {
        var rest = arguments
        while let name = rest.popFirst() {
            switch name {
            case "--help", "-h":
                say(Self.help)
                exit(0)
            case "--client":
                command = Array(rest)
                rest = []
            case "--port": port = Self.number(name, Self.value(name, &rest))
            case "--bind": addresses.append(Self.value(name, &rest))
            case "--unixsocket": socketPath = Self.value(name, &rest)
            case "--dir": directory = Self.value(name, &rest)
            case "--maxclients": mostClients = Self.number(name, Self.value(name, &rest))
            default: Self.refuse("there is no option \(name)")
            }
        }
        if mostClients < 1 { Self.refuse("--maxclients takes a number from 1 up") }
        if command?.isEmpty == true { Self.refuse("--client takes the words of a command") }
        if addresses.isEmpty { addresses = ["127.0.0.1"] }
    }

    private static func value(_ name: String, _ rest: inout ArraySlice<String>) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else { refuse("\(name) takes a value") }
        return value
    }

    private static func number<Number: FixedWidthInteger>(
        _ name: String,
        _ text: String
    ) -> Number {
        guard let number = Number(text) else { refuse("\(name) takes a number, not \(text)") }
        return number
    }

    private static func refuse(_ sentence: String) -> Never {
        complain(sentence)
        complain("this is how it is used:\n\n\(help)")
        exit(2)
    }

    private static let help = """
        Usage: KeyValue [OPTION …]
               KeyValue [OPTION …] --client WORD …

        Serves keys and values to clients that speak the Redis protocol, or sends one
        command to such a server and shows the reply.

          --port NUMBER       the TCP port (6379); 0 lets the system choose one
          --bind ADDRESS      the address, IPv4 or IPv6, in numbers (127.0.0.1); may be
                              given several times
          --unixsocket PATH   serve this Unix-domain socket as well
          --dir PATH          where SAVE writes and what is read at the start (.), by one
                              server at a time; when it is given, the server also saves
                              before it ends
          --maxclients N      how many clients there may be at a time (10000)
          --client WORD …     be a client: the rest of the line is the command
          --help              show this help

        SIGTERM, SIGINT and the command SHUTDOWN end the server when all replies are
        sent; a second signal ends it at once.
        """
}
