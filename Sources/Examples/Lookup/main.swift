// A dictionary that one process keeps and others ask, over message ports.
//
// Shows a local port with a name, requests with replies, messages without, and what a client does
// when nobody serves the name or no reply comes in time.

import Glibc
import UVRunLoop
import UVRunLoopPorts

let usage = """
    Usage: Lookup serve NAME
           Lookup teach NAME WORD MEANING
           Lookup ask NAME WORD …

    Processes of one user share the names. SIGTERM ends the one that serves.
    """
let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch (arguments.first, arguments.count) {
    case ("serve", 2):
        let book = try WordBook(named: arguments[1], on: .current)
        try UVRunLoop.current.onTermination { book.end() }
        say("Lookup serves \(arguments[1])")
        UVRunLoop.current.run()  // Returns when the port is invalid.
        say("Lookup knew \(book.count) words")
    case ("teach", 4) where !arguments[2].isEmpty && !arguments[3].isEmpty:
        try Client(named: arguments[1]).teach(arguments[2], arguments[3])
    case ("ask", 3...):
        let client = try Client(named: arguments[1])
        for word in arguments[2...] {
            say("\(word): \(try client.meaning(of: word) ?? "unknown")")
        }
    default:
        say(usage, to: STDERR_FILENO)
        exit(2)
    }
} catch {
    say("Lookup: \(error)", to: STDERR_FILENO)
    exit(1)
}
