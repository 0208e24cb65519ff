import Glibc
import Testing

/// Groups in processes of their own, which a signal ends.
@Suite(.timeLimit(.minutes(15))) struct ProcessTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func signalEndsTheProgramOfTheArticle(signal: CInt) throws {
        let program = try ChildProgram("ServedProgram")
        #expect(program.waitForLine(containing: "Counting."))
        program.signal(signal)
        let lines = program.rest()
        #expect(program.wait() == 0)
        #expect(lines.count == 2)
        #expect(lines.first?.contains("Counted to") == true)
        #expect(lines.last?.contains("The thread has ended.") == true)
    }

    @Test func signalEndsTheThreadAfterItsQueuedWork() throws {
        let program = try ChildProgram("Probe", ["queued"])
        #expect(program.waitForLine(containing: "ready"))
        program.signal(SIGTERM)
        #expect(program.rest() == ["performed: 100", "the thread has ended"])
        #expect(program.wait() == 0)
    }

    @Test func sourceGetsASignalThatTheGroupDoesNotOwn() throws {
        let program = try ChildProgram("Probe", ["beside"])
        #expect(program.waitForLine(containing: "ready"))
        program.signal(SIGUSR1)
        #expect(program.waitForLine(containing: "usr1: 1"))
        program.signal(SIGTERM)
        #expect(program.rest() == ["ended"])
        #expect(program.wait() == 0)
    }

    @Test func mainLoopDrivesAnAsynchronousMainFunction() throws {
        let program = try ChildProgram("Probe", ["main"])
        #expect(
            program.rest() == [
                "on the main thread: true, timer: true", "sum: 55", "1: true", "2: true", "3: true",
            ]
        )
        #expect(program.wait() == 0)
    }

    @Test func groupRunsBesideTheMainLoop() throws {
        let program = try ChildProgram("Probe", ["served"])
        #expect(program.waitForLine(containing: "ready"))
        program.signal(SIGTERM)
        #expect(program.rest() == ["on the main thread: true"])
        #expect(program.wait() == 0)
    }

    /// Dynamic libraries contain what they are linked with, and the linker merges symbols.
    @Test func copiesOfTheLibraryHaveLoopsOfTheirOwn() throws {
        let libraries = ["First", "Second"].map {
            ChildProgram.folder.appending(path: "lib\($0)Copy.so").path
        }
        let program = try ChildProgram("Copies", libraries)
        let expected = ["of the program"] + Array(repeating: "of a library: 1", count: 4)
        #expect(program.rest() == expected + ["of the program"])
        #expect(program.wait() == 0)
    }
}
