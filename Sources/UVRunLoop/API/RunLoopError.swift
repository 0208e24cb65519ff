/// What the environment may refuse a run loop.
///
/// > Threading: Any thread.
public struct RunLoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Tells kinds of trouble apart.
    ///
    /// More kinds may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private let text: String

        /// The process or the system has no file descriptor left (`EMFILE`, `ENFILE`; see `ulimit
        /// -n`).
        public static let noDescriptorsLeft = Code(text: "no file descriptors are left")
        /// The number is not, or no longer, that of an open descriptor (`EBADF`).
        public static let descriptorClosed = Code(text: "the descriptor is not open")
        /// The descriptor is of a kind whose readiness the system does not report: a regular file
        /// or a directory, which are always ready (`EPERM`).
        public static let descriptorNotWatchable = Code(
            text: "the descriptor is of a kind that cannot be watched, such as a regular file"
        )
        /// The number is not that of a signal that a source can wait for.
        public static let signalNotWatchable = Code(
            text: "this is no signal that a source can wait for"
        )
        /// The process is not a child of this one, or was waited for already (`ESRCH`, `ECHILD`).
        public static let noSuchChild = Code(text: "there is no such child process")
        /// There can be no more threads: the limit is reached, or there is no memory for a stack
        /// (`EAGAIN`).
        public static let noThreadsLeft = Code(text: "no more threads can be started")
        /// No thread can have a stack of the size asked for (`EINVAL`).
        public static let stackSizeNotPossible = Code(text: "no stack can have this size")
        /// The system refused for another reason, which ``RunLoopError/underlying`` names.
        public static let refusedBySystem = Code(text: "the system refused")

        /// What the code means, in a few words.
        public var description: String { text }
    }

    /// What kind of trouble it was.
    public let code: Code
    /// What libuv or the system answered; `nil` when no call of theirs was involved.
    public let underlying: UVError?

    init(_ error: UVError) {
        underlying = error
        switch error {
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: code = .noDescriptorsLeft
        case .badDescriptor: code = .descriptorClosed
        case .notPermitted: code = .descriptorNotWatchable
        default: code = .refusedBySystem
        }
    }

    /// What the system says about a signal.
    init(ofSignal error: UVError) {
        self = error == .invalidArgument ? Self(.signalNotWatchable, error) : Self(error)
    }

    /// What the system says about a process.
    init(ofChild error: UVError) {
        switch error {
        case .noSuchProcess, .noChild: self = Self(.noSuchChild, error)
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem: self = Self(error)
        default: self = Self(.refusedBySystem, error)
        }
    }

    private init(_ code: Code, _ error: UVError) {
        self.code = code
        underlying = error
    }

    /// What the system says about a thread that it did not start.
    init(ofThread error: UVError) {
        underlying = error
        code = error == .invalidArgument ? .stackSizeNotPossible : .noThreadsLeft
    }

    /// The trouble in one line.
    public var description: String {
        underlying.map { "\(code) (\($0))" } ?? code.description
    }
}
