import UVRunLoop

extension UVRunLoop {
    /// What the environment may refuse a socket port.
    ///
    /// > Threading: Any thread.
    public struct SocketError: Error, Hashable, Sendable, CustomStringConvertible {
        /// Tells kinds of trouble apart.
        ///
        /// More kinds may be added.
        public struct Code: Hashable, Sendable, CustomStringConvertible {
            private let text: String

            /// Somebody listens there already, or a file is at the path (`EADDRINUSE`).
            public static let addressInUse = Code(text: "the address is in use")
            /// The address is not one of this machine's, or its ports are used up
            /// (`EADDRNOTAVAIL`).
            public static let addressNotAvailable = Code(text: "the address is not available")
            /// Nobody listens there (`ECONNREFUSED`).
            public static let connectionRefused = Code(text: "the connection was refused")
            /// The limit has passed, the port's own or the system's (`ETIMEDOUT`).
            public static let timedOut = Code(text: "the time limit has passed")
            /// The peer dropped the connection (`ECONNRESET`).
            public static let connectionReset = Code(text: "the peer dropped the connection")
            /// The peer takes no more (`EPIPE`).
            public static let brokenPipe = Code(text: "the peer takes no more")
            /// There is no way to the address (`ENETUNREACH`, `EHOSTUNREACH`).
            public static let unreachable = Code(text: "the address cannot be reached")
            /// The path of a Unix-domain socket does not exist (`ENOENT`, `ENOTDIR`).
            public static let noSuchPath = Code(text: "the path does not exist")
            /// The system does not permit it (`EACCES`, `EPERM`).
            public static let notPermitted = Code(text: "it is not permitted")
            /// The process or the system has no file descriptor left (`EMFILE`, `ENFILE`).
            public static let noDescriptorsLeft = Code(text: "no file descriptors are left")
            /// The path of a Unix-domain socket has more than 107 bytes.
            public static let pathTooLong = Code(text: "the path is too long for a socket")
            /// The text is not an address; names are not looked up.
            public static let invalidAddress = Code(text: "this is not a numeric address or a path")
            /// More was sent than the peer took, by ``SocketPort/maximumQueuedBytes``.
            public static let queueOverflow = Code(text: "too much waits to be sent")
            /// The system refused for another reason, which ``SocketError/underlying`` names.
            public static let refusedBySystem = Code(text: "the system refused")

            /// What the code means, in a few words.
            public var description: String { text }
        }

        /// What kind of trouble it was.
        public let code: Code
        /// What the system answered; `nil` when no call of its was involved.
        public let underlying: UVError?

        init(_ code: Code) {
            self.code = code
            underlying = nil
        }

        init(system error: UVError) {
            code = Self.codes[error] ?? .refusedBySystem
            underlying = error
        }

        /// The trouble in one line.
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
