import Glibc

/// A process that this one has started, in the same process group: an interrupt ends it too.
package struct ChildProcess {
    private let id: pid_t

    /// Starts a program; `nil` if that is not possible.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - words: Its arguments, the name by which it is called first.
    package init?(_ path: String, _ words: [String]) {
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var id: pid_t = 0
        guard posix_spawn(&id, path, nil, nil, &pointers, environ) == 0 else { return nil }
        self.id = id
    }

    /// Starts this program once more, with other arguments.
    package init(arguments: [String]) {
        let words = CommandLine.arguments.prefix(1) + arguments
        guard let child = ChildProcess("/proc/self/exe", Array(words)) else {
            fail("this program could not be started once more.")
        }
        self = child
    }

    /// Waits until the process has ended; returns whether it succeeded.
    @discardableResult
    package func wait() -> Bool {
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }

    /// Ends the process, if it has not ended by itself.
    package func end(by signal: CInt = SIGTERM) {
        kill(id, signal)
        wait()
    }
}
