import UVRunLoop

extension UVRunLoop.MessagePort {
    /// The way to a local port, in this process or another.
    ///
    /// Get one with ``UVRunLoop/MessagePort/remote(named:replyLimit:acceptPeer:)``. Every look-up
    /// of a name gives a port of its own, with a connection of its own: its loop, its
    /// `invalidationHandler`, its limits and its end are nobody else's. What one port sends arrives
    /// in order; what two send may overtake each other. Keep a port that is used again.
    ///
    /// When the other side goes, the port becomes invalid: a send notices, and a wait for a reply.
    /// To hear of it without either, add the port to a mode of a loop; it has no other events.
    /// A name that is served again is to be looked up again, and so is every name in a forked
    /// child: the port that it inherits is its parent's.
    ///
    /// > Threading: Any thread.
    public final class Remote: UVRunLoop.PortSource {
        /// What a loop knows the port by.
        public let link: UVRunLoop.PortLink
        /// The name.
        public let name: String
        /// Who serves it: the process that listens.
        public let peer: UVRunLoop.PeerCredentials
        let connection: RemoteConnection
        private let receiver: RemoteReceiver

        /// A port of a name, connected.
        static func connected(
            to name: PortName,
            in directory: PortDirectory,
            replyLimit: Int = Limits().maximumMessageSize,
            acceptPeer: PeerPolicy? = nil
        ) throws(MessagePortError) -> Remote {
            let files = try directory.files(of: name)
            let (socket, peer) = try PortConnector.connect(to: files)
            guard isPermitted(peer, by: acceptPeer) else { throw .peerNotPermitted }
            return Remote(name, socket, peer, replyLimit)
        }

        private init(
            _ name: PortName,
            _ socket: SharedSocket,
            _ peer: PeerCredentials,
            _ replyLimit: Int
        ) {
            self.name = name.text
            self.peer = peer
            let receiver = RemoteReceiver()
            let connection = RemoteConnection(socket, maximumReply: replyLimit) {
                receiver.connectionDidEnd()
            }
            self.connection = connection
            self.receiver = receiver
            link = UVRunLoop.PortLink(
                descriptor: socket.descriptor.number,
                events: .readable,
                order: 0,
                receiver: receiver
            )
            receiver.attach(self)
        }

        deinit { connection.end(.isInvalid) }

        /// Whether messages may be sent, as far as is known.
        public var isValid: Bool { link.isValid && connection.isOpen }

        /// Called once, when the port becomes invalid, on the thread that makes it so or notices.
        ///
        /// Set on a port that is invalid already, it is called at once. It is `nil` once the port
        /// is invalid.
        ///
        /// > Threading: Any thread.
        public var invalidationHandler: (@Sendable (Remote) -> Void)? {
            get { receiver.invalidation.handler }
            set { receiver.invalidation.setHandler(newValue, of: self) }
        }

        /// Closes the connection, which those who wait for replies are told.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            connection.end(.becameInvalid)
        }
    }
}

/// What a loop serves of a remote port that was added to it: the news that it became invalid.
final class RemoteReceiver: TypedPortReceiver {
    let invalidation = Invalidation<MessagePort.Remote>()
    private let port = Guarded<Weak<MessagePort.Remote>?>(nil)

    func attach(_ port: MessagePort.Remote) {
        let port = Weak(object: port)
        self.port.withLock { $0 = port }
    }

    func checkHome(is thread: ThreadIdentity) {}

    func receive(
        port: MessagePort.Remote,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult {
        port.connection.receive()
        return ServeResult(wasHandled: !port.connection.isOpen)
    }

    func connectionDidEnd() {
        // A port that is being freed has nobody to tell.
        guard let port = port.withLock({ $0?.object }) else { return }
        UVRunLoop.invalidate(port)
        invalidation.end()?(port)
    }

    func releaseHandler(in loop: UVRunLoop?) {
        // One that is being freed ends its connection itself.
        port.withLock { $0?.object }?.connection.end(.becameInvalid)
    }
}
