import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopPorts

@testable import Tally

/// The program as a process of its own, on real time.
@Suite(.timeLimit(.minutes(15))) struct ProgramTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func signalEndsTheServiceWhichPrintsItsTotals(signal: CInt) throws {
        let (service, address) = try startService()
        let client = try ChildProgram(
            "Tally",
            ["client", address, "add pears 2", "add apples 3", "add pears 2"]
        )
        #expect(client.rest() == "2\n3\n4\n")
        #expect(client.wait() == 0)
        service.signal(signal)
        #expect(service.rest() == "apples 3\npears 4\n")
        #expect(service.wait() == 0)
    }

    @Test func serviceEndsWithAClientConnected() throws {
        let (service, address) = try startService()
        let (ours, theirs) = socketPair()
        let client = try ChildProgram("Tally", ["client", address], input: .descriptor(theirs))
        close(theirs)
        write("add a 1\n", to: ours)
        #expect(client.nextLine() == "1")
        service.signal(SIGTERM)
        #expect(service.rest() == "a 1\n")
        #expect(service.wait() == 0)
        write("total a\n", to: ours)
        close(ours)
        #expect(client.rest() == "Tally: the service has ended the connection\n")
        #expect(client.wait() == 1)
    }

    @Test func clientSendsTheLinesOfStandardInput() throws {
        let (service, address) = try startService()
        let (ours, theirs) = socketPair()
        write("add a 1\ntotal a\nadd a 2", to: ours)
        close(ours)
        let client = try ChildProgram("Tally", ["client", address], input: .descriptor(theirs))
        close(theirs)
        #expect(client.rest() == "1\n1\n3\n")
        #expect(client.wait() == 0)
        service.signal(SIGTERM)
        #expect(service.wait() == 0)
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1"])
    func aWrongPortIsToldInASentence(address: String) throws {
        let service = try ChildProgram("Tally", ["serve", address])
        #expect(service.nextLine() == "Tally: \(address) has no port from 0 to 65535")
        _ = service.rest()
        #expect(service.wait() == 2)
    }

    @Test func anAnswerThatCannotBeWrittenIsToldInASentence() throws {
        let (service, address) = try startService()
        let client = try ChildProgram(
            "Tally",
            ["client", address, "add a 1"],
            outputFile: "/dev/full"
        )
        #expect(client.rest() == "Tally: cannot write: No space left on device\n")
        #expect(client.wait() == 1)
        service.signal(SIGTERM)
        #expect(service.wait() == 0)
    }

    @Test func closedStandardInputIsToldInASentence() throws {
        let (service, address) = try startService()
        let client = try ChildProgram("Tally", ["client", address], input: .closed)
        #expect(client.rest().hasPrefix("Tally: the descriptor is not open"))
        #expect(client.wait() == 1)
        service.signal(SIGTERM)
        #expect(service.wait() == 0)
    }

    @Test func clientGivesUpAtTheLimit() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/socket"
        let listener = try UVRunLoop.SocketPort(listeningAt: .unix(path))
        defer { listener.invalidate() }
        // Connected by the kernel, and never answered.
        let client = try ChildProgram(
            "Tally",
            ["client", "--limit", "0.1", path, "total a"]
        )
        #expect(client.rest() == "Tally: the time limit has passed\n")
        #expect(client.wait() == 1)
    }

    @Test func addressInUseIsToldInASentence() throws {
        let (service, address) = try startService()
        let second = try ChildProgram("Tally", ["serve", address])
        #expect(second.rest().hasPrefix("Tally: the address is in use"))
        #expect(second.wait() == 1)
        service.signal(SIGTERM)
        #expect(service.wait() == 0)
    }

    @Test(arguments: [
        [], ["start"], ["serve"], ["serve", "localhost:1"], ["serve", "127.0.0.1"],
        ["serve", "127.0.0.1:0", "more"], ["client"], ["client", "--limit", "soon", "[::1]:1"],
    ])
    func wrongArgumentsAreRefusedWithTheUsage(arguments: [String]) throws {
        let program = try ChildProgram("Tally", arguments)
        #expect(program.rest().contains("Usage: Tally serve"))
        #expect(program.wait() == 2)
    }

    /// Starts a service; returns it and where it listens.
    private func startService() throws -> (ChildProgram, String) {
        let service = try ChildProgram("Tally", ["serve", "127.0.0.1:0"])
        let line = try #require(service.nextLine())
        return (service, String(try #require(line.split(separator: " ").last)))
    }
}
