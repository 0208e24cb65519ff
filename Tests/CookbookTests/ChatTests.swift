import Glibc
import Testing

/// The chat server, from outside.
@Suite(.timeLimit(.minutes(15))) struct ChatTests {
    @Test func everybodyGetsTheLinesOfTheOthers() throws {
        let (chat, port) = try start()
        let clients = (1...3).map { number in
            let client = LineClient(port: port)
            #expect(client.line() == "* You are guest\(number).")
            return client
        }
        #expect(clients[0].line() == "* guest2 has come.")
        #expect(clients[0].line() == "* guest3 has come.")
        #expect(clients[1].line() == "* guest3 has come.")
        clients[0].send("hello\nthere")
        for client in clients[1...] {
            #expect(client.line() == "guest1: hello")
            #expect(client.line() == "guest1: there")
        }
        clients[0].close()
        #expect(clients[1].line() == "* guest1 has left.")
        chat.signal(SIGKILL)
    }

    @Test func theEndIsToldAndWaitedFor() throws {
        let (chat, port) = try start()
        let clients = (1...2).map { _ in LineClient(port: port) }
        for client in clients { #expect(client.line()?.hasPrefix("* You are") == true) }
        chat.signal(SIGTERM)
        for client in clients {
            var last: String?
            while let line = client.line() { last = line }
            #expect(last == "* The server ends.")
            client.close()
        }
        #expect(chat.rest() == "Chat: 2 left, 0 were cut off\n")
        #expect(chat.wait() == 0)
    }

    @Test func aSecondSignalEndsItAtOnce() throws {
        let (chat, port) = try start()
        let client = LineClient(port: port)
        #expect(client.line() == "* You are guest1.")
        chat.signal(SIGTERM)
        #expect(client.line() == "* The server ends.")
        chat.signal(SIGTERM)
        #expect(chat.wait() == -SIGTERM)
    }

    @Test func aLineThatIsTooLongEndsTheConversation() throws {
        let (chat, port) = try start()
        let client = LineClient(port: port)
        client.send(String(repeating: "x", count: 900))
        client.send(String(repeating: "y", count: 900) + String(repeating: "z", count: 200))
        #expect(client.line() == "* You are guest1.")
        #expect(client.line() == "* Good-bye: a line is too long.")
        #expect(client.line() == nil)
        chat.signal(SIGKILL)
    }

    @Test(arguments: [[], ["port"], ["70000"], ["1", "2"]])
    func wrongArgumentsAreRefused(arguments: [String]) throws {
        let chat = try ChildProgram("Chat", arguments)
        #expect(chat.rest() == "Usage: Chat PORT\n")
        #expect(chat.wait() == 2)
    }

    private func start() throws -> (ChildProgram, UInt16) {
        let chat = try ChildProgram("Chat", ["0"])
        let line = try #require(chat.nextLine())
        return (chat, try #require(line.split(separator: ":").last.flatMap { UInt16($0) }))
    }
}
