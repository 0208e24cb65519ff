import Glibc

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A directory of a test's own, removed with all it holds.
final class Place: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/uvrunloop-test-XXXXXX".utf8CString)
        let isMade = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { mkdtemp($0) != nil } ?? false
        }
        precondition(isMade, "No directory could be made.")
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The directory of names in this place.
    func directory() throws(MessagePortError) -> PortDirectory {
        try PortDirectory(in: surroundings)
    }

    var surroundings: PortDirectory.Surroundings {
        PortDirectory.Surroundings(temporaryDirectory: path, user: geteuid())
    }

    /// Where the names in this place are.
    var namesPath: String { "\(path)/uvrunloop-\(geteuid())" }

    var entries: [String] { Self.entries(of: namesPath) }

    static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    deinit { Self.remove(path) }

    static func remove(_ path: String) {
        for name in entries(of: path) { remove(path + "/" + name) }
        if unlink(path) != 0 { rmdir(path) }
    }
}

/// Runs a body in a forked child and answers the status that it ended with.
///
/// The body makes system calls and uses this library's values, and nothing that needs a thread of
/// the parent's.
func inChild(_ body: () -> CInt) -> CInt {
    awaitEnd(of: startChild(body))
}

func startChild(_ body: () -> CInt) -> pid_t {
    let child = fork()
    precondition(child >= 0, "No process could be made.")
    if child == 0 {
        endAfterTwoMinutes()
        _exit(body())
    }
    return child
}

/// Makes the process another user's; root's processes alone can, and others stay what they are.
func become(_ user: uid_t) {
    guard geteuid() == 0 else { return }
    precondition(setgid(user) == 0 && setuid(user) == 0, "The process cannot change its user.")
}

/// Ends the process if it hangs; threads that run tests have the signal blocked.
private func endAfterTwoMinutes() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGALRM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    alarm(120)
}

/// Runs a body in a process of its own, in which no other thread opens or closes descriptors.
///
/// An exit test's process has such threads: those of the test library.
func inQuietProcess(_ body: () throws -> Void) {
    let status = inChild {
        do {
            try body()
            return 0
        } catch {
            return 1
        }
    }
    precondition(status == 0, "The process ended with \(status).")
}

/// Waits for a child; its exit status, or the negated number of the signal that ended it.
func awaitEnd(of child: pid_t) -> CInt {
    var status: CInt = -1
    while waitpid(child, &status, 0) == -1, errno == EINTR {}
    return outcome(of: status)
}

/// Waits for any one of some children, takes it off the list and answers how it ended.
func awaitFirstEnd(of children: inout [pid_t]) -> CInt {
    while true {
        for (index, child) in children.enumerated() {
            var status: CInt = 0
            guard waitpid(child, &status, WNOHANG) == child else { continue }
            children.remove(at: index)
            return outcome(of: status)
        }
        usleep(200)
    }
}

private func outcome(of status: CInt) -> CInt {
    status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
}
