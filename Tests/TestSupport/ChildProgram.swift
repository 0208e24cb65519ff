import Glibc

/// A program of this package that runs as a process of its own.
package final class ChildProgram {
    /// The state of descriptor 0 in the child.
    package enum Input {
        case inherited, closed
        case descriptor(CInt)
    }

    package let process: pid_t
    private let output: CInt
    private var pending: [UInt8] = []
    private var status: CInt?

    /// Starts a program of this package; its standard error goes where its standard output does,
    /// unless a file takes that.
    package convenience init(
        _ name: String,
        _ arguments: [String] = [],
        input: Input = .inherited,
        outputFile: String? = nil,
        in folder: TemporaryFolder? = nil
    ) throws {
        var command = ["\(Self.folder)/\(name)"] + arguments
        if let folder {
            command = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, folder.path] + command
        }
        try self.init(command: command, input: input, outputFile: outputFile)
    }

    /// Starts any program, named by its path.
    package init(command: [String], input: Input, outputFile: String? = nil) throws {
        let (parents, childs) = socketPair()
        defer { close(childs) }
        output = parents
        guard let process = Self.start(command, Self.actions(input, childs, outputFile)) else {
            close(parents)
            throw Trouble("cannot start \(command[0])")
        }
        self.process = process
    }

    private static func start(
        _ command: [String],
        _ actions: posix_spawn_file_actions_t
    ) -> pid_t? {
        var (actions, attributes) = (actions, signalDefaults())
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        words.append(nil)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            for word in words { free(word) }
        }
        var process: pid_t = 0
        let status = posix_spawn(&process, command[0], &actions, &attributes, words, environ)
        return status == 0 ? process : nil
    }

    private static func actions(
        _ input: Input,
        _ output: CInt,
        _ outputFile: String?
    ) -> posix_spawn_file_actions_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        switch input {
        case .inherited: break
        case .closed: posix_spawn_file_actions_addclose(&actions, STDIN_FILENO)
        case .descriptor(let number):
            posix_spawn_file_actions_adddup2(&actions, number, STDIN_FILENO)
        }
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, output, number)
        }
        if let outputFile {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, outputFile, O_WRONLY, 0)
        }
        return actions
    }

    /// Test runners may have signals blocked or ignored, which a child inherits.
    private static func signalDefaults() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        return attributes
    }

    /// The programs lie beside the tests.
    private static var folder: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = buffer[..<max(count, 0)].map(UInt8.init(bitPattern:))
        let tests = String(decoding: path, as: UTF8.self)
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? tests
        return bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
    }

    /// The next line of its output, or `nil` when it ends or takes too long.
    package func nextLine() -> String? {
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            guard readMore() else { return nil }
        }
    }

    /// All that it prints from now on until it ends.
    package func rest() -> String {
        while readMore() {}
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }

    /// Waits for output, for a minute at most; `false` at the end.
    private func readMore() -> Bool {
        guard waitUntilReadable(output) else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &buffer, buffer.count)
        pending += buffer[..<max(count, 0)]
        return count > 0
    }

    package func signal(_ number: CInt) { kill(process, number) }

    /// Waits until it has ended; returns its status, or minus the signal that killed it.
    package func wait() -> CInt {
        var raw: CInt = 0
        // Long enough for anything but a hang.
        awaitCondition(pause: 1_000) {
            if status == nil, waitpid(process, &raw, WNOHANG) == process {
                status = outcome(of: raw)
            }
            return status != nil
        }
        return status ?? .min
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(output)
    }
}

/// A failure of a test's own means.
package struct Trouble: Error {
    package let sentence: String

    package init(_ sentence: String) { self.sentence = sentence }
}

/// Whether there is something to read within a minute, or the end.
package func waitUntilReadable(_ descriptor: CInt) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 60_000) > 0
}
