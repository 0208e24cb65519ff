import Glibc
import TestSupport
import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct ServerTests {
    @Test func itTellsItsPortAndAnswersThere() throws {
        let server = try TestServer()
        let client = try server.connect()
        #expect(try client.ask("PING") == .pong)
        #expect(try client.ask("SET", "key", "value") == .ok)
        #expect(try client.ask("GET", "key") == .text("value"))
        #expect(try server.connect().ask("GET", "key") == .text("value"))
    }

    @Test func aPipelineIsAnsweredInOrder() throws {
        let server = try TestServer()
        let client = try server.connect()
        let numbers = 0..<10_000
        client.send(numbers.flatMap { encoded(["ECHO", "\($0)"]) })
        for number in numbers { #expect(try client.nextReply() == .text("\(number)")) }
    }

    /// Patterns that alone would take minutes or hours.
    enum SlowPattern: CaseIterable {
        case longText, longClass, manyWildcards

        var text: String {
            switch self {
            case .longText: "*" + String(repeating: "a", count: 1 << 17) + "b"
            case .longClass: "*[" + String(repeating: "b", count: 1 << 17) + "]c"
            case .manyWildcards: "*" + String(repeating: "?", count: 1 << 17) + "b"
            }
        }
    }

    @Test(arguments: SlowPattern.allCases)
    func aPatternThatTakesTooLongIsRefusedSoon(pattern: SlowPattern) throws {
        let server = try TestServer()
        let (client, other) = (try server.connect(), try server.connect())
        let key = String(repeating: "a", count: 1 << 18)
        #expect(try client.ask("SET", key, "value") == .ok)
        for words in [["KEYS", pattern.text], ["SCAN", "0", "MATCH", pattern.text]] {
            client.send(encoded(words))
            #expect(try client.nextReply() == .error("ERR matching this pattern takes too long"))
        }
        #expect(try other.ask("PING") == .pong)
        // Common patterns are not refused, even for a long key.
        for pattern in ["*", "a*", "*aaa*", "*a?[abc]*", "a*a"] {
            #expect(try client.ask("KEYS", pattern) == .array([.text(key)]))
        }
    }

    @Test func linesAreCommandsToo() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send("SET k 'a b'\r\nGET k\nPING\r\n")
        #expect(try client.nextReply() == .ok)
        #expect(try client.nextReply() == .text("a b"))
        #expect(try client.nextReply() == .pong)
    }

    @Test func dribbledBytesAreOneCommand() throws {
        let server = try TestServer()
        let client = try server.connect()
        for byte in encoded(["SET", "key", "value"]) + encoded(["GET", "key"]) {
            client.send([byte])
            usleep(500)
        }
        #expect(try client.nextReply() == .ok)
        #expect(try client.nextReply() == .text("value"))
    }

    @Test func aBrokenCommandEndsItsConnectionOnly() throws {
        let server = try TestServer()
        let (good, bad) = (try server.connect(), try server.connect())
        #expect(try good.ask("SET", "key", "value") == .ok)
        bad.send(encoded(["GET", "key"]) + Array("*1\r\n+PING\r\n".utf8))
        bad.send([UInt8](repeating: 0, count: 500_000))
        #expect(try bad.nextReply() == .text("value"))
        #expect(try bad.nextReply() == .error("ERR Protocol error: expected '$', got '+'"))
        #expect(try bad.nextReply() == nil)
        #expect(try good.ask("GET", "key") == .text("value"))
    }

    @Test func oneClientTooManyIsRefused() throws {
        let server = try TestServer(["--maxclients", "2"])
        var clients = try [server.connect(), server.connect()]
        for client in clients { #expect(try client.ask("PING") == .pong) }
        let third = try server.connect()
        #expect(try third.nextReply() == .error("ERR max number of clients reached"))
        #expect(try third.nextReply() == nil)

        clients.removeLast()
        let isServed = try awaitCondition(pause: 10_000) {
            try server.connect().ask("PING") == .pong
        }
        #expect(isServed)
    }

    @Test func keysExpireThoughNobodyAsksForThem() throws {
        let server = try TestServer()
        let client = try server.connect()
        #expect(try client.ask("SET", "soon", "1", "PX", "30") == .ok)
        #expect(try client.ask("SET", "later", "1", "EX", "1000") == .ok)
        #expect(try client.ask("SET", "sooner", "1", "PX", "20") == .ok)
        #expect(try client.awaitReply(.integer(1), to: "DBSIZE"))
        #expect(try client.ask("EXISTS", "later") == .integer(1))
    }

    @Test func whoSendsNoMoreStillGetsItsReplies() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send((0..<1000).flatMap { encoded(["ECHO", "\($0)"]) })
        client.endSending()
        for number in 0..<1000 { #expect(try client.nextReply() == .text("\(number)")) }
        #expect(try client.nextReply() == nil)
    }

    @Test func whoLeavesIsTold() throws {
        let server = try TestServer()
        let client = try server.connect()
        client.send(encoded(["PING"]) + encoded(["QUIT"]) + encoded(["PING"]))
        #expect(try client.nextReply() == .pong)
        #expect(try client.nextReply() == .ok)
        #expect(try client.nextReply() == nil)
    }

    @Test func whoDoesNotReadHoldsUpNobodyElse() throws {
        let server = try TestServer()
        let (slow, quick) = (try server.connect(), try server.connect())
        let value = String(repeating: "v", count: 1 << 20)
        #expect(try quick.ask("SET", "large", value) == .ok)
        slow.send((0..<60).flatMap { _ in encoded(["GET", "large"]) })
        slow.send(encoded(["PING"]))
        for _ in 0..<20 { #expect(try quick.ask("PING") == .pong) }
        for _ in 0..<60 { #expect(try slow.nextReply() == .text(value)) }
        #expect(try slow.nextReply() == .pong)
    }

    @Test func aUnixSocketIsServedAsWell() throws {
        let folder = TemporaryFolder()
        let path = "\(folder.path)/socket"
        let server = try TestServer(["--unixsocket", path])
        #expect(try server.connect().ask("SET", "key", "value") == .ok)
        let client = try keyValue(["--unixsocket", path, "--client", "GET", "key"])
        #expect(client.rest() == "value\n")
        #expect(client.wait() == 0)
        server.program.signal(SIGTERM)
        #expect(server.program.wait() == 0)
        #expect(folder.entries.isEmpty)
    }

    @Test func theBuiltInClientTellsErrorsByItsStatus() throws {
        let server = try TestServer()
        let port = "\(server.port)"
        let good = try keyValue(["--port", port, "--client", "MSET", "a", "1", "b", "2"])
        #expect(good.rest() == "OK\n")
        #expect(good.wait() == 0)
        let bad = try keyValue(["--port", port, "--client", "INCR"])
        #expect(bad.rest().contains("wrong number of arguments for 'incr'"))
        #expect(bad.wait() == 1)
        let unheard = try ChildProgram(
            "KeyValue",
            ["--port", port, "--client", "PING"],
            outputFile: "/dev/full"
        )
        #expect(unheard.rest() == "KeyValue: cannot write: No space left on device\n")
        #expect(unheard.wait() == 1)
    }

    /// The addresses are told when all are open.
    @Test func aServerThatCannotOpenAnAddressSaysOnlyThat() throws {
        let arguments = ["--port", "0", "--unixsocket", "/nonexistent/socket"]
        let program = try keyValue(arguments)
        #expect(program.rest().hasPrefix("KeyValue: cannot listen at /nonexistent/socket: "))
        #expect(program.wait() == 1)
    }

    @Test(arguments: [
        ["--port", "x"], ["--nope"], ["--maxclients", "0"], ["--dir"], ["--client"],
    ])
    func wrongOptionsAreRefused(arguments: [String]) throws {
        let program = try keyValue(arguments)
        #expect(program.rest().contains("Usage: KeyValue"))
        #expect(program.wait() == 2)
    }

    @Test func helpIsGiven() throws {
        let program = try keyValue(["--help"])
        #expect(program.rest().contains("--unixsocket PATH"))
        #expect(program.wait() == 0)
    }
}
