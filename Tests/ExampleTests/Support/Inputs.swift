import Glibc
import TestSupport

/// A pseudoterminal, whose other side the test has.
final class Terminal {
    /// The side that a shell and its programs have open.
    let descriptor: CInt
    private let keyboard: CInt

    init() throws {
        var (master, slave): (CInt, CInt) = (-1, -1)
        guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw Trouble("no terminal") }
        for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (keyboard, descriptor) = (master, slave)
    }

    func type(_ text: String) { TestSupport.write(text, to: keyboard) }

    var flags: CInt { fcntl(descriptor, F_GETFL) }

    deinit {
        close(descriptor)
        close(keyboard)
    }
}

/// A pipe that a process of its own writes to, so that no process that another test forks has a
/// copy of the write end: the pipe would not end before that process does.
final class NamedPipe {
    let readEnd: CInt
    private let writer: ChildProgram
    private let words: CInt
    private let folder = TemporaryFolder()

    /// Writes the lines that it reads, and says after each that it has.
    private static let script =
        #"exec 3>"$0"; while read -r text; do printf "$text" >&3; echo; done"#

    init() throws {
        let path = folder.path + "/name"
        guard mkfifo(path, 0o600) == 0 else { throw Trouble("no pipe") }
        readEnd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard readEnd >= 0, fcntl(readEnd, F_SETFL, 0) == 0 else { throw Trouble("no pipe") }
        let (parents, childs) = socketPair()
        defer { close(childs) }
        words = parents
        let command = ["/bin/sh", "-c", Self.script, path]
        writer = try ChildProgram(command: command, input: .descriptor(childs))
    }

    /// Returns when the pipe has the text.
    func write(_ text: String) {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: #"\n"#)
        TestSupport.write(line + "\n", to: words)
        _ = writer.nextLine()
    }

    func end() {
        shutdown(words, CInt(SHUT_WR))
        _ = writer.wait()
    }

    /// Waits until everything written has been read.
    func waitUntilTaken() {
        var unread: CInt = 0
        awaitCondition { ioctl(readEnd, UInt(FIONREAD), &unread) != 0 || unread == 0 }
    }

    deinit {
        close(readEnd)
        close(words)
    }
}

/// A temporary file, removed with the object.
final class TemporaryFile {
    let descriptor: CInt
    private let folder = TemporaryFolder()

    init(_ text: String) throws {
        let path = folder.path + "/name"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Trouble("no file") }
        TestSupport.write(text, to: descriptor)
        lseek(descriptor, 0, SEEK_SET)
    }

    deinit { close(descriptor) }
}
