// A chat server for lines of text.
//
// Shows a listener and its connections as a group, back-pressure, and a clean end: on SIGTERM
// everybody is notified, and gets five seconds to leave.

import Glibc
import UVRunLoop
import UVRunLoopPorts

guard CommandLine.arguments.count == 2, let number = UInt16(CommandLine.arguments[1]) else {
    say("Usage: Chat PORT", to: STDERR_FILENO)
    exit(2)
}
do {
    let chat = Chat(on: .current)
    let address = try chat.listen(at: .ipv4Loopback(port: number))
    try UVRunLoop.current.onTermination {
        chat.end(limit: .seconds(5)) { outcome in
            say("Chat: \(outcome.finished) left, \(outcome.failed + outcome.cut) were cut off")
        }
    }
    say("Chat listens at \(address)")
    // Returns when everybody has left. The handlers of the connections need the chat until then.
    withExtendedLifetime(chat) { UVRunLoop.current.run() }
} catch {
    say("Chat: \(error)", to: STDERR_FILENO)
    exit(1)
}
