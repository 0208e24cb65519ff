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

        /// What an error is about.
        enum Subject { case library, descriptor, signal, child, thread, traceFile }

        /// Creates the error for what the library opens itself, or for something of the caller's.
        init(_ error: UVError, of subject: Subject = .library) {
            underlying = error
            code =
                switch (subject, error) {
                case (.descriptor, .badDescriptor): .descriptorClosed
                case (.descriptor, .notPermitted): .descriptorNotWatchable
                case (.signal, .invalidArgument): .signalNotWatchable
                case (.child, .noSuchProcess), (.child, .noChild): .noSuchChild
                case (.thread, .invalidArgument): .stackSizeNotPossible
                case (.thread, _): .noThreadsLeft
                case (.traceFile, .tryAgain): .fileBeingRecordedTo
                case (_, .tooManyOpenFiles), (_, .tooManyOpenFilesInSystem): .noDescriptorsLeft
                default: .refusedBySystem
                }
        }

        /// Makes a call, and throws what it throws as an error of this type.
        static func translating<Result: ~Copyable>(
            _ call: @autoclosure () throws(UVError) -> Result,
            of subject: Subject = .library
        ) throws(RunLoopError) -> Result {
            do { return try call() } catch { throw RunLoopError(error, of: subject) }
        }

        /// The code and the underlying error in one line.
        public var description: String {
            underlying.map { "\(code) (\($0))" } ?? code.description
        }
    }
}

/// The same as ``UVRunLoop/RunLoopError``.
public typealias RunLoopError = UVRunLoop.RunLoopError
