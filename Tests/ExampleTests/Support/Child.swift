import Glibc

/// A program of this package that runs as a process of its own, with a standard input of the
/// test's choice.
final class Child {
    /// A failure of the test's own means.
    struct Trouble: Error {
        let sentence: String
    }

    let process: pid_t
    private let output: CInt
    private var hasEnded = false

    /// Starts a program with an input as its descriptor 0, which is closed without one.
    ///
    /// Its standard error goes where its standard output does.
    init(_ name: String, input: CInt?) throws {
        let (parents, childs) = try socketPair()
        output = parents
        defer { close(childs) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addclose(&actions, STDIN_FILENO)
        }
        posix_spawn_file_actions_adddup2(&actions, childs, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, childs, STDERR_FILENO)
        var attributes = Self.signalDefaults()
        defer { posix_spawnattr_destroy(&attributes) }
        let path = Self.folder + "/" + name
        var words = [strdup(path), nil]
        defer { free(words[0]) }
        var process: pid_t = 0
        guard posix_spawn(&process, path, &actions, &attributes, &words, environ) == 0 else {
            close(parents)
            throw Trouble(sentence: "cannot start \(path)")
        }
        self.process = process
    }

    /// Test runners may have signals blocked or ignored, which a child inherits.
    private static func signalDefaults() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        return attributes
    }

    /// The programs lie beside the tests.
    private static var folder: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let tests = String(
            decoding: buffer[..<max(count, 0)].map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? tests
        return bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
    }

    /// All it prints until it ends.
    func wholeOutput() -> String {
        var bytes: [UInt8] = []
        while waitUntilReadable(output) {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until the kernel watches its standard input for a loop that sleeps.
    ///
    /// Asking the kernel once is not enough, because libuv adds a descriptor for a moment to try
    /// it out.
    func waitUntilItReads() {
        var sightings = 0
        for _ in 0..<12_000 where sightings < 5 {
            sightings = watchesStandardInput ? sightings + 1 : 0
            usleep(5000)
        }
    }

    private var watchesStandardInput: Bool {
        (3..<20).contains { number in
            let file = open("/proc/\(process)/fdinfo/\(number)", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(file, &buffer, buffer.count)
            return String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
                .split(separator: "\n")
                .contains { $0.split(separator: " ").prefix(2) == ["tfd:", "0"] }
        }
    }

    /// Waits until it has ended; returns its status, or minus the signal that killed it.
    func wait() -> CInt {
        var raw: CInt = 0
        // Long enough for anything but a hang.
        for _ in 0..<6000 where !hasEnded {
            hasEnded = waitpid(process, &raw, WNOHANG) == process
            if !hasEnded { usleep(10_000) }
        }
        guard hasEnded else { return .min }
        return raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
    }

    deinit {
        if !hasEnded {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(output)
    }
}

/// A pair of connected sockets, which no child inherits.
///
/// They are sockets and not a pipe because a process that another test starts at this moment may
/// have a pipe open for a while.
func socketPair() throws -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
        throw Child.Trouble(sentence: "no pair of sockets")
    }
    return (ends[0], ends[1])
}

/// Whether there is something to read within a minute, or the end.
func waitUntilReadable(_ descriptor: CInt) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 60_000) > 0
}
