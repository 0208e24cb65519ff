import UVRunLoop

extension UVRunLoop {
    /// Messages between processes: what CFMessagePort and NSMessagePort are.
    ///
    /// A ``Local`` port has a name and a handler; it is an input source of a loop. A ``Remote`` is
    /// how any process of the same user sends to it, and gets the reply that the handler returned.
    /// Messages go over Unix-domain sockets, in the format that <doc:MessagePortWireFormat> gives.
    ///
    /// ```swift
    /// let port = try UVRunLoop.MessagePort.local(named: "com.example.echo") { _, message in
    ///     message.data
    /// }
    /// UVRunLoop.current.add(port, forMode: .default)
    /// UVRunLoop.current.run()
    /// ```
    ///
    /// See *Configuring a Port-Based Input Source* in Apple's guide, listings 3-16 to 3-19.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public enum MessagePort {
        /// What a local port grants its peers.
        ///
        /// Whoever goes beyond a limit loses the connection, and nobody else notices. In memory a
        /// peer costs at most one message that has not come whole, one read of 64 KiB, and one
        /// reply that it has not taken: while a reply waits, its further requests do too. All peers
        /// together cost no more than ``maximumBufferedSize``.
        ///
        /// > Threading: Any thread.
        public struct Limits: Hashable, Sendable {
            /// The most bytes that a message or a reply may have; 16 MiB.
            ///
            /// Lengths are checked before memory is taken. More than 4 GiB less one cannot be sent.
            public var maximumMessageSize = 16 << 20
            /// The most connections at a time; 1,024.
            public var maximumConnections = 1_024
            /// The most connections of one user at a time; 512.
            public var maximumConnectionsPerUser = 512
            /// The most bytes that the port keeps for all its peers together: of messages that have
            /// not come whole, of further ones that came with them, and of replies until the last
            /// byte is taken; 64 MiB.
            ///
            /// Beyond it connections end, until the rest is within: of the user who has most of it,
            /// the one that has most. One message of the largest size always has room.
            public var maximumBufferedSize = 64 << 20
            /// How long a message may be on its way in, from its first byte to its last, and a
            /// reply wait without the peer taking any of it; 30 seconds.
            public var frameTimeLimit: Duration = .seconds(30)
            /// How long a peer may be connected without sending anything, while it waits for
            /// nothing; `nil`, for ever.
            ///
            /// The connection then ends, so that silent peers do not keep others out for ever. A
            /// sender that comes back after that has to look the name up again.
            public var idleTimeLimit: Duration?

            /// The default limits.
            public init() {}
        }

        /// One message, as a local port's handler gets it.
        ///
        /// > Threading: Any thread.
        public struct Message: Sendable {
            /// What the sender calls this kind of message.
            public let id: Int32
            /// The bytes.
            public let data: [UInt8]
            /// Who sent it.
            public let sender: PeerCredentials
            /// Whether the sender waits for what the handler returns.
            public let isReplyExpected: Bool
            /// The name of the port that the sender wants answers at, if it sent one.
            public let replyPortName: String?
            let directory: PortDirectory

            /// The port that the sender wants answers at.
            ///
            /// > Threading: Any thread. Connects, which does not wait.
            ///
            /// - Returns: The port; `nil` when the message came without one.
            /// - Throws: ``UVRunLoop/MessagePortError`` when the port is gone.
            public func replyPort() throws(MessagePortError) -> Remote? {
                guard let replyPortName else { return nil }
                return try Remote.connected(to: PortName(replyPortName), in: directory)
            }
        }

        /// Decides whether to deal with a peer.
        public typealias PeerPolicy = @Sendable (PeerCredentials) -> Bool

        static func isPermitted(_ peer: PeerCredentials, by policy: PeerPolicy?) -> Bool {
            policy?(peer) ?? peer.isSameUser
        }
    }
}

typealias MessagePort = UVRunLoop.MessagePort
