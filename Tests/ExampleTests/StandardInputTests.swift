import Glibc
import TestSupport
import Testing

/// The overview's program with all kinds of standard input.
///
/// The program is `Sources/Examples/FirstLine`; `Scripts/check-docs` compares it with the overview.
@Suite(.timeLimit(.minutes(15))) struct StandardInputTests {
    // MARK: A terminal

    @Test func aTerminalIsInTheModeItWasInWhileItIsRead() throws {
        let terminal = try Terminal()
        let flags = terminal.flags
        let program = try ChildProgram("FirstLine", input: .descriptor(terminal.descriptor))
        program.waitUntilItReads()
        #expect(terminal.flags == flags)
        terminal.type("hello\n")
        #expect(program.rest() == "hello\n")
        #expect(program.wait() == 0)
        #expect(terminal.flags == flags)
    }

    @Test func aTerminalIsInTheModeItWasInAfterAnInterrupt() throws {
        let terminal = try Terminal()
        let flags = terminal.flags
        let program = try ChildProgram("FirstLine", input: .descriptor(terminal.descriptor))
        program.waitUntilItReads()
        kill(program.process, SIGINT)
        #expect(program.wait() == -SIGINT)
        #expect(terminal.flags == flags)
    }

    @Test func theEndOfFileCharacterEndsTheInput() throws {
        let terminal = try Terminal()
        let program = try ChildProgram("FirstLine", input: .descriptor(terminal.descriptor))
        program.waitUntilItReads()
        terminal.type("\u{4}")
        #expect(program.rest() == "The input has ended.\n")
        #expect(program.wait() == 0)
    }

    // MARK: A pipe, a socket

    @Test func aLineThatComesInPiecesIsOneLine() throws {
        let pipe = try NamedPipe()
        let program = try ChildProgram("FirstLine", input: .descriptor(pipe.readEnd))
        program.waitUntilItReads()
        pipe.write("par")
        pipe.waitUntilTaken()
        pipe.write("tial\nmore")
        #expect(program.rest() == "partial\n")
        #expect(program.wait() == 0)
    }

    @Test func aPipeThatEndsWithinALineHasALastLine() throws {
        let pipe = try NamedPipe()
        let flags = fcntl(pipe.readEnd, F_GETFL)
        let program = try ChildProgram("FirstLine", input: .descriptor(pipe.readEnd))
        pipe.write("no newline")
        program.waitUntilItReads()
        pipe.waitUntilTaken()
        #expect(fcntl(pipe.readEnd, F_GETFL) == flags)
        pipe.end()
        #expect(program.rest() == "no newline\n")
        #expect(program.wait() == 0)
        #expect(fcntl(pipe.readEnd, F_GETFL) == flags)
    }

    @Test func aSocketIsReadAsAPipeIs() throws {
        let (parents, childs) = socketPair()
        defer { close(parents) }
        let program = try ChildProgram("FirstLine", input: .descriptor(childs))
        close(childs)
        write("a line\n", to: parents)
        #expect(program.rest() == "a line\n")
        #expect(program.wait() == 0)
    }

    // MARK: A file

    @Test(arguments: [
        ("first\nsecond\n", "first\n"), ("no newline", "no newline\n"),
        ("", "The input has ended.\n"),
    ])
    func aFileIsReadAsAPipeIs(content: String, expected: String) throws {
        let file = try TemporaryFile(content)
        let program = try ChildProgram("FirstLine", input: .descriptor(file.descriptor))
        #expect(program.rest() == expected)
        #expect(program.wait() == 0)
    }

    @Test func theNullDeviceHasEnded() throws {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        let program = try ChildProgram("FirstLine", input: .descriptor(null))
        #expect(program.rest() == "The input has ended.\n")
        #expect(program.wait() == 0)
    }

    // MARK: No input

    @Test func aClosedStandardInputIsToldInASentence() throws {
        let program = try ChildProgram("FirstLine", input: .closed)
        let sentence = program.rest()
        #expect(sentence.hasPrefix("There is no standard input: the descriptor is not open"))
        #expect(program.wait() == 1)
    }

    @Test func aDirectoryAsStandardInputIsToldInASentence() throws {
        let directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        let program = try ChildProgram("FirstLine", input: .descriptor(directory))
        let sentence = program.rest()
        #expect(sentence.hasPrefix("There is no standard input: the descriptor is of a kind"))
        #expect(program.wait() == 1)
    }
}
