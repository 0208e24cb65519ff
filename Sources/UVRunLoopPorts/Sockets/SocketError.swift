import UVRunLoop

extension UVRunLoop {
    /// An error of a socket port.
    ///
    /// > Threading: Any thread.
    public struct SocketError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of an error.
        ///
        /// More codes may be added.
        public struct Code: Hashable, Sendable, CustomStringConvertible {
            private let text: String

            /// Another socket listens at the address, or the path exists (`EADDRINUSE`).
            public static let addressInUse = Code(text: "the address is in use")
            /// The address is not one of this machine's, or its ports are used up
            /// (`EADDRNOTAVAIL`).
            public static let addressNotAvailable = Code(text: "the address is not available")
            /// No socket listens at the address (`ECONNREFUSED`).
            public static let connectionRefused = Code(text: "the connection was refused")
            /// The limit has passed, the port's own or the system's (`ETIMEDOUT`).
            public static let timedOut = Code(text: "the time limit has passed")
            /// The peer reset the connection (`ECONNRESET`).
            public static let connectionReset = Code(text: "the peer dropped the connection")
            /// The peer no longer receives (`EPIPE`).
            public static let brokenPipe = Code(text: "the peer takes no more")
            /// The address is unreachable (`ENETUNREACH`, `EHOSTUNREACH`).
            public static let unreachable = Code(text: "the address cannot be reached")
            /// The path of a Unix-domain socket does not exist (`ENOENT`, `ENOTDIR`).
            public static let noSuchPath = Code(text: "the path does not exist")
            /// The system denies permission (`EACCES`, `EPERM`).
            public static let notPermitted = Code(text: "it is not permitted")
            /// The process or the system has no file descriptors left (`EMFILE`, `ENFILE`).
            public static let noDescriptorsLeft = Code(text: "no file descriptors are left")
            /// The path of a Unix-domain socket is longer than 107 bytes.
            public static let pathTooLong = Code(text: "the path is too long for a socket")
            /// The text is not a valid address; names are not resolved.
            public static let invalidAddress = Code(text: "this is not a numeric address or a path")
            /// The send queue exceeded ``SocketPort/maximumQueuedBytes``.
            public static let queueOverflow = Code(text: "too much waits to be sent")
            /// The port was invalidated while a task waited for it, or before.
            public static let invalidated = Code(text: "the port was invalidated")
            /// Another error of the system, in ``SocketError/underlying``.
            public static let refusedBySystem = Code(text: "the system refused")

            /// A short description of the code.
            public var description: String { text }
        }

        /// The kind of the error.
        public let code: Code
        /// The system's error; `nil` if no system call failed.
        public let underlying: UVError?

        init(_ code: Code) {
            self.code = code
            underlying = nil
        }

        init(system error: UVError) {
            code = Self.codes[error] ?? .refusedBySystem
            underlying = error
        }

        /// The error in one line.
        public var description: String {
            underlying.map { "\(code) (\($0))" } ?? code.description
        }

        private static let codes: [UVError: Code] = [
            .addressInUse: .addressInUse,
            .addressNotAvailable: .addressNotAvailable,
            .brokenPipe: .brokenPipe,
            .connectionRefused: .connectionRefused,
            .connectionReset: .connectionReset,
            .hostUnreachable: .unreachable,
            .networkUnreachable: .unreachable,
            .noAccess: .notPermitted,
            .noSuchFile: .noSuchPath,
            .notADirectory: .noSuchPath,
            .notPermitted: .notPermitted,
            .timedOut: .timedOut,
            .tooManyOpenFiles: .noDescriptorsLeft,
            .tooManyOpenFilesInSystem: .noDescriptorsLeft,
        ]
    }
}
