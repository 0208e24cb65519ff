import Glibc
import Testing

/// The program under test, running as a process of its own.
final class Program {
    /// A failure of the test's own means.
    struct Trouble: Error {
        let sentence: String
    }

    let process: pid_t
    private let output: CInt
    private var pending: [UInt8] = []
    private var status: CInt?

    /// Starts the program; its standard error goes where its standard output does.
    init(_ arguments: [String], in folder: TemporaryFolder? = nil) throws {
        var ends: [CInt] = [0, 0]
        // A pair of sockets, because a pipe would be open in other tests' processes for a moment.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Trouble(sentence: "no pair of sockets")
        }
        output = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
        // Test runners may have signals blocked or ignored, which a child inherits.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            close(ends[1])
        }
        var command = [Self.path] + arguments
        if let folder {
            command = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, folder.path] + command
        }
        let path = command[0]
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        guard posix_spawn(&process, path, &actions, &attributes, words, environ) == 0 else {
            throw Trouble(sentence: "cannot start \(path)")
        }
        self.process = process
    }

    /// The program lies beside the tests.
    private static var path: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let tests = String(
            decoding: buffer[..<max(count, 0)].map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? tests
        return bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/KeyValue"
    }

    /// The next line of its output, or `nil` when it ends or takes too long.
    func nextLine() -> String? {
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeSubrange(...end) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 60_000) > 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            pending += buffer[..<count]
        }
    }

    /// All further output.
    func rest() -> String {
        var text = ""
        while let line = nextLine() { text += line + "\n" }
        return text
    }

    func signal(_ number: CInt) { kill(process, number) }

    /// Waits until it has ended; answers its status, or minus the signal that killed it.
    func wait() -> CInt {
        if let status { return status }
        var raw: CInt = 0
        // Long enough for anything but a hang.
        for _ in 0..<6000 {
            if waitpid(process, &raw, WNOHANG) == process {
                let ended = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
                status = ended
                return ended
            }
            usleep(10_000)
        }
        return .min
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(output)
    }
}

/// A server that was started for a test, at a port of its own.
struct TestServer {
    let program: Program
    let port: UInt16

    init(_ arguments: [String] = [], in folder: TemporaryFolder? = nil) throws {
        program = try Program(["--port", "0"] + arguments, in: folder)
        while let line = program.nextLine() {
            guard line.contains("listens at"), let text = line.split(separator: ":").last,
                let port = UInt16(text)
            else { continue }
            self.port = port
            return
        }
        throw Program.Trouble(sentence: "the server does not say where it listens")
    }

    func connect() throws -> TestClient { try TestClient(program, port: port) }
}

/// A folder that goes away with the test.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/keyvalue-test-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nowhere"
    }

    /// The names of what it holds.
    var contents: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ text: String, to name: String) {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = Glibc.write(file, Array(text.utf8), text.utf8.count)
        close(file)
    }

    /// Removes it with what it holds.
    func remove() {
        for name in contents { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    deinit { remove() }
}
