import UVRunLoop

extension UVRunLoop {
    /// An error of a source of `UVRunLoopSystem`.
    ///
    /// > Threading: Any thread.
    public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of an error.
        ///
        /// More codes may be added.
        public struct Code: Hashable, Sendable, CustomStringConvertible {
            private let text: String

            /// The file or program does not exist (`ENOENT`, `ENOTDIR`).
            public static let noSuchFile = Code(text: "there is no such file")
            /// The system denies permission (`EACCES`, `EPERM`).
            public static let notPermitted = Code(text: "it is not permitted")
            /// The process or the system has no file descriptors left (`EMFILE`, `ENFILE`).
            public static let noDescriptorsLeft = Code(text: "no file descriptors are left")
            /// The descriptor is not open (`EBADF`).
            public static let descriptorClosed = Code(text: "the descriptor is not open")
            /// No more processes or threads can be started (`EAGAIN`).
            public static let noProcessesLeft = Code(text: "no more processes or threads can start")
            /// There is no memory, or a limit of the kernel is reached (`ENOMEM`, `ENOSPC`,
            /// `ENOBUFS`; `EAGAIN` where no process is started).
            public static let noRoom = Code(text: "a limit of the system is reached")
            /// A text contains a zero byte, or a value is out of range (`EINVAL`).
            public static let invalidArgument = Code(text: "a value is not valid")
            /// The host or service has no address (`EAI_NONAME`, `EAI_NODATA`, `EAI_SERVICE`).
            public static let unknownHost = Code(text: "the host or service is not known")
            /// The host's address cannot be found at present (`EAI_AGAIN`).
            public static let temporaryFailure = Code(text: "the name service does not reply")
            /// Another socket has the address (`EADDRINUSE`).
            public static let addressInUse = Code(text: "the address is in use")
            /// The address is not one of this machine's (`EADDRNOTAVAIL`).
            public static let addressNotAvailable = Code(text: "the address is not available")
            /// The address cannot be reached (`ENETUNREACH`, `EHOSTUNREACH`).
            public static let unreachable = Code(text: "the address cannot be reached")
            /// No socket receives at the address (`ECONNREFUSED`).
            public static let refused = Code(text: "nobody receives at the address")
            /// The datagram is too long (`EMSGSIZE`).
            public static let messageTooLong = Code(text: "the datagram is too long")
            /// The other end is gone: nobody reads (`EPIPE`), or it was reset (`ECONNRESET`).
            public static let brokenPipe = Code(text: "the other end is gone")
            /// Too much waits to be sent or written.
            public static let queueOverflow = Code(text: "too much waits to be sent")
            /// The descriptor is not that of a terminal.
            public static let notATerminal = Code(text: "this is not a terminal")
            /// The process is in the background of its terminal, and `SIGTTOU` is handled.
            public static let inBackground = Code(text: "the process is in the background")
            /// The child's standard input is not a pipe of the source.
            public static let notAPipe = Code(text: "the standard input is not a pipe")
            /// The process has ended (`ESRCH`).
            public static let processEnded = Code(text: "the process has ended")
            /// The source was invalidated, or its input was ended.
            public static let invalidated = Code(text: "the source is no longer valid")
            /// The loop of the calling thread has ended.
            public static let loopEnded = Code(text: "the run loop has ended")
            /// Another error of the system, in ``SystemError/underlying``.
            public static let refusedBySystem = Code(text: "the system refused")

            /// A short description of the code.
            public var description: String { text }
        }

        /// The operation that failed.
        ///
        /// More attempts may be added.
        public struct Attempt: Hashable, Sendable, CustomStringConvertible {
            private let text: String

            /// Starting work on the thread pool.
            public static let offload = Attempt(text: "offloading work")
            /// Resolving a name.
            public static let resolve = Attempt(text: "resolving a name")
            /// Watching a file, a directory or a process.
            public static let watch = Attempt(text: "watching")
            /// Starting a child process.
            public static let spawn = Attempt(text: "starting a process")
            /// Sending a signal to a child process.
            public static let kill = Attempt(text: "sending a signal")
            /// Reading.
            public static let read = Attempt(text: "reading")
            /// Writing.
            public static let write = Attempt(text: "writing")
            /// Opening a socket, and binding it to an address.
            public static let bind = Attempt(text: "binding a socket")
            /// Changing a socket or the mode of a terminal.
            public static let configure = Attempt(text: "configuring a socket or terminal")
            /// Sending a datagram.
            public static let send = Attempt(text: "sending a datagram")
            /// Receiving datagrams.
            public static let receive = Attempt(text: "receiving datagrams")
            /// Creating a timer.
            public static let schedule = Attempt(text: "creating a timer")
            /// Opening a terminal or another input.
            public static let open = Attempt(text: "opening an input")

            /// A short description of the attempt.
            public var description: String { text }
        }

        /// The operation that failed.
        public let attempt: Attempt
        /// The kind of the error.
        public let code: Code
        /// The error of libuv or the system; `nil` if none of their calls has failed.
        public let underlying: UVError?

        init(_ attempt: Attempt, _ code: Code, _ underlying: UVError? = nil) {
            self.attempt = attempt
            self.code = code
            self.underlying = underlying
        }

        /// The attempt, the code and the underlying error in one line.
        public var description: String {
            let error = underlying.map { " (\($0))" } ?? ""
            return "\(attempt): \(code)\(error)"
        }
    }
}
