import Glibc

/// Processes that take all the processor time they can get.
struct BusyProcesses {
    private let ids: [pid_t]

    init(count: Int) {
        ids = (0..<count).map { _ in
            var id: pid_t = 0
            let words = ["Contention", "--spin"]
            var arguments = words.map { strdup($0) } + [nil]
            defer { for argument in arguments { free(argument) } }
            let status = posix_spawn(&id, "/proc/self/exe", nil, nil, &arguments, environ)
            guard status == 0 else { fail("No busy process could be started.") }
            return id
        }
        // Until they are under way.
        usleep(100_000)
    }

    /// What such a process does, until it is killed or its parent is gone.
    static func spin() -> Never {
        let parent = getppid()
        while getppid() == parent {
            let end = now() + 100_000_000
            while now() < end {}
        }
        exit(0)
    }

    func end() {
        for id in ids {
            kill(id, SIGKILL)
            var status: CInt = 0
            waitpid(id, &status, 0)
        }
    }
}
