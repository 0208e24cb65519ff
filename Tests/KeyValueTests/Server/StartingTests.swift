import Glibc
import TestSupport
import Testing

@testable import KeyValue

/// The state of the directory when a server starts, and other servers in it.
@Suite(.timeLimit(.minutes(15))) struct StartingTests {
    @Test func whatKilledServersLeftUnfinishedIsRemoved() throws {
        let folder = TemporaryFolder()
        for name in ["keyvalue.snapshot.1.new", "keyvalue.snapshot.4194304.new"] {
            folder.write("half a snapshot", to: name)
        }
        for name in ["keyvalue.snapshot.bak", "other.new"] { folder.write("mine", to: name) }
        let server = try TestServer(["--dir", folder.path])
        #expect(folder.entries == ["keyvalue.snapshot.bak", "other.new"])
        #expect(try server.connect().ask("SAVE") == .ok)
        #expect(
            folder.entries == ["keyvalue.snapshot", "keyvalue.snapshot.bak", "other.new"]
        )
    }

    @Test func aSecondServerOnADirectoryIsRefusedAsLongAsTheFirstRuns() throws {
        let folder = TemporaryFolder()
        let first = try TestServer(["--dir", folder.path])
        let second = try keyValue(["--port", "0", "--dir", "\(folder.path)/."])
        #expect(second.rest() == refusal("\(folder.path)/.: another server uses it"))
        #expect(second.wait() == 1)
        #expect(try first.connect().ask("SAVE") == .ok)

        first.program.signal(SIGKILL)
        _ = first.program.wait()
        #expect(try TestServer(["--dir", folder.path]).connect().ask("PING") == .pong)
    }

    @Test func aServerWithoutADirectoryOptionSavesOnlyWhereNobodyElseDoes() throws {
        let folder = TemporaryFolder()
        let owner = try TestServer(["--dir", folder.path])
        let guest = try TestServer([], in: folder)
        let client = try guest.connect()
        #expect(try client.ask("SAVE") == .error("ERR cannot use .: another server uses it"))
        #expect(try owner.connect().ask("SHUTDOWN") == nil)
        #expect(owner.program.wait() == 0)
        #expect(try client.ask("SAVE") == .ok)
    }

    @Test func aDirectoryThatIsNotThereIsRefused() throws {
        let folder = TemporaryFolder()
        folder.write("a file", to: "file")
        for (name, reason) in [("none", ENOENT), ("file", ENOTDIR)] {
            let program = try keyValue(["--port", "0", "--dir", "\(folder.path)/\(name)"])
            let sentence = "\(folder.path)/\(name): \(String(cString: strerror(reason)))"
            #expect(program.rest() == refusal(sentence))
            #expect(program.wait() == 1)
        }
    }

    @Test func aNamedPipeAsSnapshotIsRefused() throws {
        let folder = TemporaryFolder()
        #expect(mkfifo("\(folder.path)/keyvalue.snapshot", 0o600) == 0)
        let program = try keyValue(["--port", "0", "--dir", folder.path])
        let sentence = "\(folder.path)/keyvalue.snapshot: it is not a regular file"
        #expect(program.rest() == refusal(sentence))
        #expect(program.wait() == 1)
    }

    private func refusal(_ sentence: String) -> String { "KeyValue: cannot use \(sentence)\n" }
}
