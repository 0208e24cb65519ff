import Foundation

/// A program of this package that runs as a process of its own.
final class ChildProgram {
    private let process: pid_t
    private let output = Pipe()
    private var pending = Data()
    private var status: CInt?

    /// Starts a program, whose standard error goes where its standard output does.
    init(_ name: String, _ arguments: [String] = []) throws {
        let command = [Self.folder.appending(path: name).path] + arguments
        process = try Self.start(command, output: output.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
    }

    private static func start(_ command: [String], output: CInt) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, output, number)
        }
        // Test runners may have signals blocked or ignored, which a child inherits.
        var (signals, none) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM] { sigaddset(&signals, signal) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        words.append(nil)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            for word in words { free(word) }
        }
        var process: pid_t = 0
        let error = posix_spawn(&process, command[0], &actions, &attributes, words, environ)
        guard error == 0 else { throw CannotStart(command: command, error: error) }
        return process
    }

    private struct CannotStart: Error {
        let command: [String]
        let error: CInt
    }

    /// The programs lie beside the tests.
    static var folder: URL {
        let tests = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? "/proc/self/exe"
        return URL(filePath: tests).resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Waits for a line that contains some words; `false` if the program ends without it.
    func waitForLine(containing words: String) -> Bool {
        while true {
            while let end = pending.firstIndex(of: 10) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending = Data(pending[end...].dropFirst())
                if line.contains(words) { return true }
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return false }
            pending += more
        }
    }

    func signal(_ number: CInt) { kill(process, number) }

    /// All lines that it prints from now on until it ends.
    func rest() -> [String] {
        pending += output.fileHandleForReading.readDataToEndOfFile()
        defer { pending = Data() }
        return String(decoding: pending, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits until it has ended; returns its status, or minus the signal that ended it.
    func wait() -> CInt {
        if let status { return status }
        var raw: CInt = 0
        while waitpid(process, &raw, 0) == -1, errno == EINTR {}
        let ended = raw & 0x7F == 0 ? raw >> 8 & 0xFF : -(raw & 0x7F)
        status = ended
        return ended
    }

    deinit {
        if status == nil {
            signal(SIGKILL)
            _ = wait()
        }
    }
}
