import Glibc
import Testing

/// The dictionary over message ports, with each side in a process of its own.
@Suite(.timeLimit(.minutes(15))) struct LookupTests {
    @Test func oneProcessTeachesAndAnotherAsks() throws {
        let name = "uvrunloop.cookbook.\(getpid()).teach"
        let server = try ChildProgram("Lookup", ["serve", name])
        #expect(server.nextLine() == "Lookup serves \(name)")
        #expect(try run(["teach", name, "loop", "what runs"]) == ("", 0))
        let asked = try run(["ask", name, "loop", "pool"])
        #expect(asked == ("loop: what runs\npool: unknown\n", 0))
        server.signal(SIGTERM)
        #expect(server.rest() == "Lookup knew 1 words\n")
        #expect(server.wait() == 0)
        #expect(try run(["ask", name, "loop"]) == ("Lookup: no process serves the name\n", 1))
    }

    @Test func aNameHasOneServer() throws {
        let name = "uvrunloop.cookbook.\(getpid()).one"
        let server = try ChildProgram("Lookup", ["serve", name])
        #expect(server.nextLine() == "Lookup serves \(name)")
        #expect(try run(["serve", name]) == ("Lookup: another process owns the name\n", 1))
        // The name of a process that was killed is free.
        server.signal(SIGKILL)
        #expect(server.wait() == -SIGKILL)
        let next = try ChildProgram("Lookup", ["serve", name])
        #expect(next.nextLine() == "Lookup serves \(name)")
        next.signal(SIGTERM)
        #expect(next.wait() == 0)
    }

    @Test func whatIsTooLongIsNotSent() throws {
        let name = "uvrunloop.cookbook.\(getpid()).long"
        let server = try ChildProgram("Lookup", ["serve", name])
        #expect(server.nextLine() == "Lookup serves \(name)")
        let (output, status) = try run([
            "teach", name, "word", String(repeating: "x", count: 65_536),
        ])
        #expect(output == "Lookup: A word and its meaning may have 65536 bytes.\n")
        #expect(status == 1)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    @Test(arguments: [
        [], ["serve"], ["teach", "name", "word"], ["teach", "name", "", "meaning"],
        ["ask", "name"],
    ])
    func wrongArgumentsAreRefused(arguments: [String]) throws {
        let (output, status) = try run(arguments)
        #expect(output.hasPrefix("Usage: Lookup serve NAME"))
        #expect(status == 2)
    }

    private func run(_ arguments: [String]) throws -> (String, CInt) {
        let program = try ChildProgram("Lookup", arguments)
        return (program.rest(), program.wait())
    }
}
