extension UVRunLoop {
    /// An error that the environment causes, such as a lack of descriptors.
    ///
    /// > Threading: Any thread.
    public struct RunLoopError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of an error.
        ///
        /// More kinds may be added.
        public struct Code: Hashable, Sendable, CustomStringConvertible {
            private let text: String

            /// The process or the system has no file descriptor left (`EMFILE`, `ENFILE`).
            ///
            /// The limit of a process is that of `ulimit -n`.
            public static let noDescriptorsLeft = Code(text: "no file descriptors are left")
            /// The number is not, or no longer, the number of an open descriptor (`EBADF`).
            public static let descriptorClosed = Code(text: "the descriptor is not open")
            /// The system does not report the readiness of such descriptors (`EPERM`): regular
            /// files and directories are always ready.
            public static let descriptorNotWatchable = Code(
                text: "the descriptor is of a kind that cannot be watched, such as a regular file"
            )
            /// The number is not the number of a signal that a source can wait for.
            public static let signalNotWatchable = Code(
                text: "this is no signal that a source can wait for"
            )
            /// The process is not a child of this one, or its status was already collected
            /// (`ESRCH`, `ECHILD`).
            public static let noSuchChild = Code(text: "there is no such child process")
            /// No more threads can be started: the limit is reached, or there is no memory for a
            /// stack (`EAGAIN`).
            public static let noThreadsLeft = Code(text: "no more threads can be started")
            /// A thread cannot have a stack of the requested size (`EINVAL`).
            public static let stackSizeNotPossible = Code(text: "no stack can have this size")
            /// Another recorder, of this process or another one, is recording to the file
            /// (`EAGAIN`).
            public static let fileBeingRecordedTo = Code(
                text: "another recorder is recording to the file"
            )
            /// The system refused for another reason, given by ``RunLoopError/underlying``.
            public static let refusedBySystem = Code(text: "the system refused")

            /// The meaning of the code in a few words.
            public var description: String { text }
        }

        /// The kind of error.
        public let code: Code
        /// The error of libuv or the system; `nil` if none of their calls was involved.
        public let underlying: UVError?

        private init(_ error: UVError, _ code: Code) {
            self.code = code
            underlying = error
        }

        /// Creates the error for what the library opens itself.
        init(_ error: UVError) {
            switch error {
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: self.init(error, .noDescriptorsLeft)
            default: self.init(error, .refusedBySystem)
            }
        }

        /// Creates the error for a descriptor of the user that cannot be watched.
        init(ofDescriptor error: UVError) {
            switch error {
            case .badDescriptor: self.init(error, .descriptorClosed)
            case .notPermitted: self.init(error, .descriptorNotWatchable)
            default: self.init(error)
            }
        }

        /// Creates the error for a signal that cannot be watched.
        init(ofSignal error: UVError) {
            self = error == .invalidArgument ? Self(error, .signalNotWatchable) : Self(error)
        }

        /// Creates the error for a child process that cannot be watched.
        init(ofChild error: UVError) {
            switch error {
            case .noSuchProcess, .noChild: self.init(error, .noSuchChild)
            default: self.init(error)
            }
        }

        /// Creates the error for a thread that could not be started.
        init(ofThread error: UVError) {
            self.init(error, error == .invalidArgument ? .stackSizeNotPossible : .noThreadsLeft)
        }

        /// Creates the error for a recorder's file that cannot be opened.
        init(ofTraceFile error: UVError) {
            self = error == .tryAgain ? Self(error, .fileBeingRecordedTo) : Self(error)
        }

        /// Makes a call, and throws what it throws as an error of this type.
        static func translating<Result: ~Copyable>(
            _ call: @autoclosure () throws(UVError) -> Result,
            as make: (UVError) -> RunLoopError = RunLoopError.init(_:)
        ) throws(RunLoopError) -> Result {
            do { return try call() } catch { throw make(error) }
        }

        /// The code and the underlying error in one line.
        public var description: String {
            underlying.map { "\(code) (\($0))" } ?? code.description
        }
    }
}

/// The same as ``UVRunLoop/RunLoopError``.
public typealias RunLoopError = UVRunLoop.RunLoopError
