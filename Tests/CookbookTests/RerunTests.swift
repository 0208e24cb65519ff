import Glibc
import Testing

/// The program that runs a command anew when files change, from outside.
@Suite(.timeLimit(.minutes(15))) struct RerunTests {
    @Test func aChangeRunsTheCommandAnew() throws {
        let folder = TemporaryFolder()
        let rerun = try ChildProgram("Rerun", [folder.path, "/bin/echo", "run"])
        for number in 0..<3 {
            #expect(rerun.nextLine() == "run")
            #expect(rerun.nextLine()?.hasPrefix("Rerun: /bin/echo: ") == true)
            // Several changes at a time are one.
            for name in ["a", "b"] { folder.write("\(number)", to: name) }
        }
        rerun.signal(SIGTERM)
        #expect(rerun.wait() == 0)
    }

    @Test func aCommandThatRunsIsEndedBeforeTheNext() throws {
        let folder = TemporaryFolder()
        let script = "trap 'echo end; exit 3' TERM; echo begin; while :; do sleep 0.01; done"
        let rerun = try ChildProgram("Rerun", [folder.path, "/bin/sh", "-c", script])
        #expect(rerun.nextLine() == "begin")
        folder.write("new", to: "file")
        #expect(rerun.nextLine() == "end")
        #expect(rerun.nextLine()?.hasPrefix("Rerun: /bin/sh: ") == true)
        #expect(rerun.nextLine() == "begin")
        rerun.signal(SIGTERM)
        #expect(rerun.nextLine() == "end")
        #expect(rerun.nextLine()?.hasPrefix("Rerun: /bin/sh: ") == true)
        #expect(rerun.wait() == 0)
    }

    @Test func whatCannotBeWatchedOrRunIsToldInASentence() throws {
        let missing = try ChildProgram("Rerun", ["/nonexistent", "true"])
        #expect(missing.rest().hasPrefix("Rerun: /nonexistent: "))
        #expect(missing.wait() == 1)
        let folder = TemporaryFolder()
        let program = try ChildProgram("Rerun", [folder.path, "/nonexistent"])
        #expect(program.nextLine()?.hasPrefix("Rerun: /nonexistent: ") == true)
        program.signal(SIGTERM)
        #expect(program.wait() == 1)
    }

    @Test(arguments: [[], ["."], ["--help", "x"]])
    func wrongArgumentsAreRefused(arguments: [String]) throws {
        let rerun = try ChildProgram("Rerun", arguments)
        #expect(rerun.rest().hasPrefix("Usage: Rerun"))
        #expect(rerun.wait() == 2)
    }
}
