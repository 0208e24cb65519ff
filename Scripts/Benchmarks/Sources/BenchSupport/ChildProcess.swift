import Glibc

/// A process that this one has started, in the same process group: an interrupt ends it too.
package struct ChildProcess {
    private let id: pid_t

    /// Starts a program; `nil` if that is not possible.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - words: Its arguments, the name by which it is called first.
    ///   - descriptor: Its standard input and output; `nil` for those of this process.
    package init?(_ path: String, _ words: [String], talkingOver descriptor: CInt? = nil) {
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let descriptor {
            posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
            posix_spawn_file_actions_adddup2(&actions, descriptor, STDOUT_FILENO)
        }
        var id: pid_t = 0
        guard posix_spawn(&id, path, &actions, nil, &pointers, environ) == 0 else { return nil }
        self.id = id
    }

    /// Starts this program once more, with other arguments.
    package init(arguments: [String], talkingOver descriptor: CInt? = nil) {
        let words = Array(CommandLine.arguments.prefix(1) + arguments)
        guard let child = ChildProcess("/proc/self/exe", words, talkingOver: descriptor) else {
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
