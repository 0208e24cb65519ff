import Glibc

/// This program once more, as the other side of a conversation.
struct ChildProcess {
    private let id: pid_t

    /// Starts the program with other arguments.
    init(arguments: [String]) {
        let words = ["PortBenchmark"] + arguments
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, "/proc/self/exe", nil, nil, &pointers, environ)
        guard status == 0 else { fatalError("The other process could not be started.") }
        self.id = id
    }

    /// Ends the process, if it has not ended by itself.
    func end() {
        kill(id, SIGTERM)
        var status: CInt = 0
        waitpid(id, &status, 0)
    }
}
