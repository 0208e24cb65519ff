import Glibc
import Testing
import UVRunLoop
import UVRunLoopTesting

@testable import Follow

/// The program that follows a file: its class on virtual time, and the whole from outside.
@Suite(.timeLimit(.minutes(15))) struct FollowTests {
    // MARK: Virtual time

    @Test func linesAreReadOnceASecond() {
        let folder = TemporaryFolder()
        folder.write("old\n", to: "log")
        let log = follow(folder, for: .seconds(5)) { clock in
            clock.after(.milliseconds(500)) { append("one\ntw", to: folder) }
            clock.after(.milliseconds(2_500)) { append("o\nthree\n", to: folder) }
        }
        #expect(log.difference(from: ["1 s: one", "3 s: two", "3 s: three"]) == nil)
    }

    @Test func aLineMayBeLongerThanWhatIsReadAtOnce() {
        let folder = TemporaryFolder()
        folder.write("", to: "log")
        let half = String(repeating: "x", count: 100_000)
        let log = follow(folder, for: .seconds(3)) { clock in
            clock.after(.milliseconds(500)) { append(half, to: folder) }
            clock.after(.milliseconds(1_500)) { append(half + "\n\nend\n", to: folder) }
        }
        #expect(log.difference(from: ["2 s: \(half)\(half)", "2 s: ", "2 s: end"]) == nil)
    }

    @Test func aFileThatTakesItsPlaceIsReadFromTheBeginning() {
        let folder = TemporaryFolder()
        folder.write("old\n", to: "log")
        let log = follow(folder, for: .seconds(3_600)) { clock in
            clock.after(.milliseconds(1_800_500)) {
                append("last of the first\n", to: folder)
                rename(folder.path + "/log", folder.path + "/log.1")
                folder.write("first of the second\n", to: "log")
            }
        }
        let expected = ["1801 s: last of the first", "1801 s: first of the second"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func aFileThatWasEmptiedIsReadFromTheBeginning() {
        let folder = TemporaryFolder()
        folder.write("a long line\n", to: "log")
        let log = follow(folder, for: .seconds(3)) { clock in
            clock.after(.milliseconds(1_500)) { folder.write("new\n", to: "log") }
        }
        #expect(log.difference(from: ["2 s: new"]) == nil)
    }

    @Test func aFileThatIsMadeLaterIsRead() {
        let folder = TemporaryFolder()
        let log = follow(folder, for: .seconds(86_400)) { clock in
            clock.after(.milliseconds(86_390_500)) { folder.write("here\n", to: "log") }
        }
        #expect(log.difference(from: ["86391 s: here"]) == nil)
    }

    private func follow(
        _ folder: TemporaryFolder,
        for duration: Duration,
        _ plan: (UVRunLoop.VirtualClock) -> Void
    ) -> EventLog {
        let clock = UVRunLoop.VirtualClock()
        let log = EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let follower = Follower(folder.path + "/log", on: loop, every: .seconds(1)) {
                log.note($0)
            }
            follower.start()
            plan(clock)
            loop.run(mode: .default, for: duration)
            follower.end()
        }
        return log
    }

    // MARK: The program

    @Test func theProgramPrintsWhatIsAppended() throws {
        let folder = TemporaryFolder()
        folder.write("", to: "log")
        let program = try ChildProgram("Follow", [folder.path + "/log"])
        // It begins at the end of the file, wherever that is when it has started.
        let isWriting = SharedBox(true)
        let writer = startThread {
            while isWriting.value {
                append("line\n", to: folder)
                usleep(20_000)
            }
        }
        for _ in 0..<3 { #expect(program.nextLine() == "line") }
        isWriting.value = false
        writer.join()
        program.signal(SIGTERM)
        #expect(program.rest().split(separator: "\n").allSatisfy { $0 == "line" })
        #expect(program.wait() == 0)
    }

    @Test func aFolderInPlaceOfAFileIsToldInASentence() throws {
        let program = try ChildProgram("Follow", ["/tmp"])
        #expect(program.rest() == "Follow: /tmp: It is a folder, not a file.\n")
        #expect(program.wait() == 1)
    }

    @Test func aFolderThatIsMissingIsToldInASentence() throws {
        let program = try ChildProgram("Follow", ["/nonexistent/log"])
        #expect(program.rest().hasPrefix("Follow: /nonexistent/: "))
        #expect(program.wait() == 1)
    }
}

private func append(_ text: String, to folder: TemporaryFolder) {
    let file = open(folder.path + "/log", O_WRONLY | O_APPEND | O_CLOEXEC)
    _ = write(file, text, text.utf8.count)
    close(file)
}
