import UVRunLoop

extension UVRunLoop {
    /// An error of a message port.
    ///
    /// Those without a path or an underlying error can be caught by their names, as in
    /// `catch UVRunLoop.MessagePortError.noSuchPort`; all are told apart by their
    /// ``code-swift.property``.
    ///
    /// > Threading: Any thread.
    public struct MessagePortError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of an error.
        ///
        /// More kinds may be added.
        public struct Code: Hashable, Sendable, CustomStringConvertible {
            private let text: String

            /// No process serves the name.
            public static let noSuchPort = Code(text: "no process serves the name")
            /// Another process owns the name.
            public static let nameTaken = Code(text: "another process owns the name")
            /// The name is empty or contains a zero byte.
            public static let invalidName = Code(text: "the name is empty or contains a zero byte")
            /// The name, encoded as a file name, is too long for a Unix-domain address.
            ///
            /// It is never truncated.
            public static let nameTooLong = Code(text: "the name is too long")
            /// The directory for names, or its parent, is not safe from other users; see
            /// ``MessagePortError/path``.
            public static let directoryNotTrusted = Code(
                text: "a directory is not safe from other users"
            )
            /// The path of the name's files is taken by a file that is not one of the user's ports;
            /// see ``MessagePortError/path``.
            public static let fileNotTrusted = Code(
                text: "a file that is no port of the user's is in the way"
            )
            /// The message was not sent within the limit.
            public static let sendTimedOut = Code(text: "the message was not sent within the limit")
            /// The message was sent, but no reply arrived within the limit; a later one is dropped.
            public static let receiveTimedOut = Code(text: "no reply arrived within the limit")
            /// The port was invalid before anything was sent.
            public static let isInvalid = Code(text: "the port was invalid before")
            /// The port became invalid meanwhile: the other side is gone, or the port was
            /// invalidated.
            public static let becameInvalid = Code(text: "the port became invalid")
            /// The message, or its reply, exceeds a size limit of one side.
            public static let messageTooLarge = Code(text: "the message exceeds a size limit")
            /// One side does not accept the other's user.
            public static let peerNotPermitted = Code(
                text: "the user of the other side is not permitted"
            )
            /// The other side has reached its connection limit.
            public static let tooManyConnections = Code(
                text: "the other side has too many connections"
            )
            /// The other side has reached its memory limit, most of it used for this peer.
            public static let noRoomLeft = Code(text: "the other side has no room left")
            /// The thread was told to stop at once, with
            /// ``UVRunLoop/Thread/stop(afterQueuedWork:)``, before the reply arrived.
            public static let threadStopped = Code(text: "the thread was told to stop")
            /// The task in which a thread waited was cancelled.
            public static let cancelled = Code(text: "the task was cancelled")
            /// The process or the system has no file descriptors left.
            public static let noDescriptorsLeft = Code(text: "no file descriptors are left")
            /// The other side violated the wire format.
            public static let malformedFrame = Code(text: "the other side violated the wire format")
            /// Another error of the system; see ``MessagePortError/underlying``.
            public static let transport = Code(text: "the system refused")

            /// The meaning of the code in a few words.
            public var description: String { text }
        }

        /// The kind of error.
        public let code: Code
        /// The directory or file that is not trusted; `nil` for other kinds.
        public let path: String?
        /// The error of the system; `nil` if none of its calls was involved.
        public let underlying: UVError?

        private init(_ code: Code, path: String? = nil, underlying: UVError? = nil) {
            self.code = code
            self.path = path
            self.underlying = underlying
        }

        /// No process serves the name.
        public static let noSuchPort = Self(.noSuchPort)
        /// Another process owns the name.
        public static let nameTaken = Self(.nameTaken)
        /// The name is empty or contains a zero byte.
        public static let invalidName = Self(.invalidName)
        /// The name, encoded as a file name, is too long for a Unix-domain address.
        ///
        /// It is never truncated.
        public static let nameTooLong = Self(.nameTooLong)
        /// The message was not sent within the limit.
        public static let sendTimedOut = Self(.sendTimedOut)
        /// The message was sent, but no reply arrived within the limit; a later one is dropped.
        public static let receiveTimedOut = Self(.receiveTimedOut)
        /// The port was invalid before anything was sent.
        public static let isInvalid = Self(.isInvalid)
        /// The port became invalid meanwhile: the other side is gone, or the port was invalidated.
        public static let becameInvalid = Self(.becameInvalid)
        /// The message, or its reply, exceeds a size limit of one side.
        public static let messageTooLarge = Self(.messageTooLarge)
        /// One side does not accept the other's user.
        public static let peerNotPermitted = Self(.peerNotPermitted)
        /// The other side has reached its connection limit.
        public static let tooManyConnections = Self(.tooManyConnections)
        /// The other side has reached its memory limit, most of it used for this peer.
        public static let noRoomLeft = Self(.noRoomLeft)
        /// The thread was told to stop at once, with ``UVRunLoop/Thread/stop(afterQueuedWork:)``,
        /// before the reply arrived.
        public static let threadStopped = Self(.threadStopped)
        /// The task in which a thread waited was cancelled.
        public static let cancelled = Self(.cancelled)
        /// The process or the system has no file descriptors left.
        public static let noDescriptorsLeft = Self(.noDescriptorsLeft)
        /// The other side violated the wire format.
        public static let malformedFrame = Self(.malformedFrame)

        static func directoryNotTrusted(_ path: String) -> Self {
            Self(.directoryNotTrusted, path: path)
        }

        static func fileNotTrusted(_ path: String) -> Self { Self(.fileNotTrusted, path: path) }

        static func transport(_ error: UVError) -> Self { Self(.transport, underlying: error) }

        init(_ error: UVError) {
            switch error {
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem: self = .noDescriptorsLeft
            default: self = .transport(error)
            }
        }

        init(_ reason: RefusalReason?) {
            self =
                switch reason {
                case .messageTooLarge: .messageTooLarge
                case .peerNotPermitted: .peerNotPermitted
                case .tooManyConnections: .tooManyConnections
                case .noRoomLeft: .noRoomLeft
                case .malformedFrame, nil: .malformedFrame
                }
        }

        /// Whether a caught error is a certain one of a message port, for `catch` and `case`.
        ///
        /// - Parameters:
        ///   - pattern: The error to look for.
        ///   - error: The caught error.
        /// - Returns: Whether they are equal.
        public static func ~= (pattern: Self, error: any Error) -> Bool {
            (error as? Self) == pattern
        }

        /// The code, with the path or the underlying error, in one line.
        public var description: String {
            if let path { return "\(code): \(path)" }
            return underlying.map { "\(code) (\($0))" } ?? code.description
        }
    }
}

typealias MessagePortError = UVRunLoop.MessagePortError

/// Makes a system call, and throws its error as a message port's.
@inline(__always)
func translating<Result: ~Copyable>(
    _ call: () throws(UVError) -> Result
) throws(MessagePortError) -> Result {
    do {
        return try call()
    } catch {
        throw MessagePortError(error)
    }
}
