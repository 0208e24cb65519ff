import UVRunLoop

extension UVRunLoop {
    /// Messages between processes, like CFMessagePort and NSMessagePort.
    ///
    /// A ``Local`` port has a name and a handler, and is an input source of a loop. Any process of
    /// the same user sends to it through a ``Remote`` port, which also receives the replies that
    /// the handler returns. Messages use Unix-domain sockets and the format of
    /// <doc:MessagePortWireFormat>.
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
        /// The limits that a local port sets for its peers.
        ///
        /// A peer that exceeds a limit loses its connection, without an effect on other peers. A
        /// peer occupies memory for at most one incomplete message, one read of 64 KiB, and one
        /// unread reply: while a reply is pending, no further request is read. All peers together
        /// occupy no more than ``maximumBufferedSize``.
        ///
        /// > Threading: Any thread.
        public struct Limits: Hashable, Sendable {
            /// The largest message or reply in bytes; 16 MiB.
            ///
            /// Lengths are checked before memory is allocated. Messages above 4 GiB − 1 cannot be
            /// sent.
            public var maximumMessageSize = 16 << 20
            /// The most connections at a time; 1,024.
            public var maximumConnections = 1_024
            /// The most connections of one user at a time; 512.
            public var maximumConnectionsPerUser = 512
            /// The most bytes kept for all peers together: incomplete messages, messages that were
            /// read with them, and replies until their last byte is sent; 64 MiB.
            ///
            /// Above it connections are closed until the rest is within the limit: each time the
            /// largest one of the user who occupies most. A single message of the maximum size is
            /// always permitted.
            public var maximumBufferedSize = 64 << 20
            /// How long an incoming message may take from its first byte to its last, and how long
            /// a reply may wait without the peer reading any of it; 30 seconds.
            ///
            /// The kernel tells what the peer has read in pieces: one that has read less than nine
            /// pages of memory (36 KiB) in that time may count as one that has read nothing.
            ///
            /// A message whose last byte has arrived in time is delivered, even if the loop is too
            /// busy to read it in time.
            public var frameTimeLimit: Duration = .seconds(30)
            /// How long a connection may be idle: no message arrives and no reply is pending.
            ///
            /// `nil` for no limit.
            ///
            /// It keeps silent peers from occupying connections indefinitely. A sender whose
            /// connection was closed has to look the name up again.
            public var idleTimeLimit: Duration?

            /// The default limits.
            public init() {}
        }

        /// A message, as passed to a local port's handler.
        ///
        /// > Threading: Any thread.
        public struct Message: Sendable {
            /// The message's id, chosen by the sender.
            public let id: Int32
            /// The message's data.
            public let data: [UInt8]
            /// The sender's credentials.
            public let sender: PeerCredentials
            /// Whether the sender waits for the handler's result.
            public let isReplyExpected: Bool
            /// The name of the sender's port for replies, if it sent one.
            public let replyPortName: String?
            let directory: PortDirectory

            /// The sender's port for replies.
            ///
            /// > Threading: Any thread. Blocks while the port has no room for another connection, for
            /// > at most a second.
            ///
            /// - Returns: The port; `nil` if the message names none.
            /// - Throws: ``UVRunLoop/MessagePortError`` if the port is gone, or stays without room.
            public func replyPort() throws(MessagePortError) -> Remote? {
                guard let replyPortName else { return nil }
                return try Remote.connected(to: PortName(replyPortName), in: directory)
            }
        }

        /// Decides whether a peer is accepted.
        public typealias PeerPolicy = @Sendable (PeerCredentials) -> Bool

        static func isPermitted(_ peer: PeerCredentials, by policy: PeerPolicy?) -> Bool {
            policy?(peer) ?? peer.isSameUser
        }
    }
}

typealias MessagePort = UVRunLoop.MessagePort
