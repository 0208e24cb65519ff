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

/// A named pipe, so that no process of another test can inherit a descriptor of it.
final class NamedPipe {
    let readEnd: CInt
    private var writeEnd: CInt
    private let folder = TemporaryFolder()

    init() throws {
        let path = folder.path + "/name"
        guard mkfifo(path, 0o600) == 0 else { throw Trouble("no pipe") }
        readEnd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        writeEnd = open(path, O_WRONLY | O_CLOEXEC)
        guard readEnd >= 0, writeEnd >= 0, fcntl(readEnd, F_SETFL, 0) == 0 else {
            throw Trouble("no pipe")
        }
    }

    func write(_ text: String) { TestSupport.write(text, to: writeEnd) }

    func end() {
        close(writeEnd)
        writeEnd = -1
    }

    /// Waits until everything written has been read.
    func waitUntilTaken() {
        var unread: CInt = 0
        for _ in 0..<60_000 where ioctl(readEnd, UInt(FIONREAD), &unread) == 0 && unread > 0 {
            usleep(1000)
        }
    }

    deinit {
        close(readEnd)
        if writeEnd >= 0 { close(writeEnd) }
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
