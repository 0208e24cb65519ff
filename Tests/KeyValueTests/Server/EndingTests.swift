import Glibc
import TestSupport
import Testing

@testable import KeyValue

@Suite(.timeLimit(.minutes(15))) struct EndingTests {
    @Test func whatWasSavedIsThereAgain() throws {
        let folder = TemporaryFolder()
        do {
            let server = try TestServer(["--dir", folder.path])
            let client = try server.connect()
            for number in 0..<1000 {
                #expect(try client.ask("SET", "key:\(number)", "value \(number)") == .ok)
            }
            #expect(try client.ask("EXPIRE", "key:1", "1000") == .integer(1))
            #expect(try client.ask("SET", "brief", "1", "PX", "50") == .ok)
            #expect(try client.ask("SAVE") == .ok)
            #expect(try client.ask("SET", "key:2", "not saved") == .ok)
            server.program.signal(SIGKILL)
            _ = server.program.wait()
        }
        #expect(folder.entries == ["keyvalue.snapshot"])
        usleep(50_000)
        let client = try TestServer(["--dir", folder.path]).connect()
        #expect(try client.ask("DBSIZE") == .integer(1000))
        #expect(try client.ask("GET", "key:2") == .text("value 2"))
        #expect(try client.ask("TTL", "key:2") == .integer(-1))
        guard case .integer(let left) = try client.ask("TTL", "key:1") else {
            Issue.record("no time to live")
            return
        }
        #expect(0...1000 ~= left)
    }

    @Test func whoSavesGetsItsRepliesInOrder() throws {
        let folder = TemporaryFolder()
        let server = try TestServer(["--dir", folder.path])
        let clients = try (0..<5).map { _ in try server.connect() }
        for client in clients {
            client.send(encoded(["INCR", "n"]) + encoded(["SAVE"]) + encoded(["PING"]))
        }
        for client in clients {
            guard case .integer = try client.nextReply() else { throw Lost() }
            #expect(try client.nextReply() == .ok)
            #expect(try client.nextReply() == .pong)
        }
    }

    @Test func aFailedSaveIsTold() throws {
        let folder = TemporaryFolder()
        let server = try TestServer(["--dir", folder.path])
        let client = try server.connect()
        folder.remove()
        guard case .error(let text) = try client.ask("SAVE") else { throw Lost() }
        #expect(text.hasPrefix("ERR cannot write"))
        #expect(try client.ask("SET", "key", "value") == .ok)
        // It does not end then either, because the keys would be lost.
        guard case .error = try client.ask("SHUTDOWN") else { throw Lost() }
        #expect(try client.ask("GET", "key") == .text("value"))
        #expect(try server.connect().ask("GET", "key") == .text("value"))
        client.send(encoded(["SHUTDOWN", "NOSAVE"]))
        #expect(try client.nextReply() == nil)
        #expect(server.program.wait() == 0)
    }

    @Test func aBrokenFileIsRefused() throws {
        let folder = TemporaryFolder()
        folder.write("KeyValue snapshot 1\n\u{1}nonsense", to: "keyvalue.snapshot")
        let program = try keyValue(["--port", "0", "--dir", folder.path])
        #expect(program.rest().contains("cannot use \(folder.path)/keyvalue.snapshot: it ends"))
        #expect(program.wait() == 1)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalSavesDrainsAndEnds(signal: CInt) throws {
        let folder = TemporaryFolder()
        let server = try TestServer(["--dir", folder.path])
        let (client, idle) = (try server.connect(), try server.connect())
        let value = String(repeating: "v", count: 1 << 20)
        #expect(try idle.ask("SET", "large", value) == .ok)
        #expect(try client.ask("SET", "key", "value") == .ok)
        // More than the kernel buffers, so that a part stays in the server.
        client.send((0..<20).flatMap { _ in encoded(["GET", "large"]) })
        #expect(try idle.ask("PING") == .pong)
        server.program.signal(signal)
        // However many commands were executed before the signal, no reply is truncated.
        var replies = 0
        while let reply = try client.nextReply() {
            #expect(reply == .text(value))
            replies += 1
        }
        #expect(replies > 0)
        #expect(try idle.nextReply() == nil)
        #expect(server.program.wait() == 0)

        let again = try TestServer(["--dir", folder.path])
        #expect(try again.connect().ask("GET", "key") == .text("value"))
    }

    @Test func aSecondSignalEndsAtOnce() throws {
        let server = try TestServer()
        let client = try server.connect()
        let value = String(repeating: "v", count: 8 << 20)
        #expect(try client.ask("SET", "large", value) == .ok)
        // Never read, so that draining takes until its limit.
        client.send((0..<4).flatMap { _ in encoded(["GET", "large"]) })
        #expect(try server.connect().ask("PING") == .pong)
        server.program.signal(SIGTERM)
        awaitCondition(pause: 5_000) { (try? server.connect()) == nil }
        server.program.signal(SIGTERM)
        #expect(server.program.wait() == 128 + SIGTERM)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSecondSignalEndsAServerThatCannotSave(signal: CInt) throws {
        let folder = TemporaryFolder()
        let server = try TestServer(["--dir", folder.path])
        let client = try server.connect()
        folder.remove()
        #expect(try client.ask("SET", "key", "value") == .ok)
        server.program.signal(SIGTERM)
        var lines: [String] = []
        while let line = server.program.nextLine() {
            lines.append(line)
            if line.contains("a second signal") { break }
        }
        #expect(lines.first?.hasPrefix("KeyValue: cannot write") == true)
        #expect(try client.ask("GET", "key") == .text("value"))
        server.program.signal(signal)
        #expect(server.program.wait() == 128 + signal)
    }

    @Test func shutdownEndsTheServer() throws {
        let folder = TemporaryFolder()
        for words in [["SHUTDOWN"], ["SHUTDOWN", "NOSAVE"], ["SHUTDOWN", "SAVE"]] {
            let server = try TestServer(["--dir", folder.path])
            let client = try server.connect()
            client.send(encoded(["INCR", "n"]) + encoded(words) + encoded(["PING"]))
            guard case .integer = try client.nextReply() else { throw Lost() }
            #expect(try client.nextReply() == nil)
            #expect(server.program.wait() == 0)
        }
        let client = try TestServer(["--dir", folder.path]).connect()
        #expect(try client.ask("GET", "n") == .text("2"))
    }

    /// Thrown for an unexpected reply.
    private struct Lost: Error {}
}
