import Glibc
import Testing

/// The overview's program, with everything that standard input may be.
///
/// The program is `Sources/Examples/FirstLine`; `Scripts/check-docs` compares it with the overview.
@Suite(.timeLimit(.minutes(15))) struct StandardInputTests {
    // MARK: A terminal

    @Test func aTerminalIsInTheModeItWasInWhileItIsRead() throws {
        let terminal = try Terminal()
        let flags = terminal.flags
        let program = try Child("FirstLine", input: terminal.descriptor)
        program.waitUntilItReads()
        #expect(terminal.flags == flags)
        terminal.type("hello\n")
        #expect(program.wholeOutput() == "hello\n")
        #expect(program.wait() == 0)
        #expect(terminal.flags == flags)
    }

    @Test func aTerminalIsInTheModeItWasInAfterAnInterrupt() throws {
        let terminal = try Terminal()
        let flags = terminal.flags
        let program = try Child("FirstLine", input: terminal.descriptor)
        program.waitUntilItReads()
        kill(program.process, SIGINT)
        #expect(program.wait() == -SIGINT)
        #expect(terminal.flags == flags)
    }

    @Test func theEndOfFileCharacterEndsTheInput() throws {
        let terminal = try Terminal()
        let program = try Child("FirstLine", input: terminal.descriptor)
        program.waitUntilItReads()
        terminal.type("\u{4}")
        #expect(program.wholeOutput() == "The input has ended.\n")
        #expect(program.wait() == 0)
    }

    // MARK: A pipe, a socket

    @Test func aLineThatComesInPiecesIsOneLine() throws {
        let pipe = try NamedPipe()
        let program = try Child("FirstLine", input: pipe.readEnd)
        program.waitUntilItReads()
        pipe.write("par")
        pipe.waitUntilTaken()
        pipe.write("tial\nmore")
        #expect(program.wholeOutput() == "partial\n")
        #expect(program.wait() == 0)
    }

    @Test func aPipeThatEndsWithinALineHasALastLine() throws {
        let pipe = try NamedPipe()
        let flags = fcntl(pipe.readEnd, F_GETFL)
        let program = try Child("FirstLine", input: pipe.readEnd)
        pipe.write("no newline")
        program.waitUntilItReads()
        pipe.waitUntilTaken()
        #expect(fcntl(pipe.readEnd, F_GETFL) == flags)
        pipe.end()
        #expect(program.wholeOutput() == "no newline\n")
        #expect(program.wait() == 0)
        #expect(fcntl(pipe.readEnd, F_GETFL) == flags)
    }

    @Test func aSocketIsReadAsAPipeIs() throws {
        let (parents, childs) = try socketPair()
        defer { close(parents) }
        let program = try Child("FirstLine", input: childs)
        close(childs)
        write("a line\n", to: parents)
        #expect(program.wholeOutput() == "a line\n")
        #expect(program.wait() == 0)
    }

    // MARK: A file

    @Test(arguments: [
        ("first\nsecond\n", "first\n"), ("no newline", "no newline\n"),
        ("", "The input has ended.\n"),
    ])
    func aFileIsReadAsAPipeIs(content: String, expected: String) throws {
        let file = try TemporaryFile(content)
        let program = try Child("FirstLine", input: file.descriptor)
        #expect(program.wholeOutput() == expected)
        #expect(program.wait() == 0)
    }

    @Test func theNullDeviceHasEnded() throws {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        let program = try Child("FirstLine", input: null)
        #expect(program.wholeOutput() == "The input has ended.\n")
        #expect(program.wait() == 0)
    }

    // MARK: Nothing

    @Test func aClosedStandardInputIsToldInASentence() throws {
        let program = try Child("FirstLine", input: nil)
        let sentence = program.wholeOutput()
        #expect(sentence.hasPrefix("There is no standard input: the descriptor is not open"))
        #expect(program.wait() == 1)
    }

    @Test func aDirectoryAsStandardInputIsToldInASentence() throws {
        let directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        let program = try Child("FirstLine", input: directory)
        let sentence = program.wholeOutput()
        #expect(sentence.hasPrefix("There is no standard input: the descriptor is of a kind"))
        #expect(program.wait() == 1)
    }
}
