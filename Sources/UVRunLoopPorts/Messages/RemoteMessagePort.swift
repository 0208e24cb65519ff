import UVRunLoop

extension UVRunLoop.MessagePort {
    /// Sends messages to a local port, in this process or another.
    ///
    /// Get one with ``UVRunLoop/MessagePort/remote(named:replyLimit:acceptPeer:)``. Each lookup of
    /// a name returns a new port with its own connection, loop, `invalidationHandler` and limits.
    /// Messages of one port arrive in order; messages of two ports may overtake each other. Keep a
    /// port that is used repeatedly.
    ///
    /// When the other side goes away, the port becomes invalid. A send notices that, and so does a
    /// wait for a reply; to be notified without either, add the port to a mode of a loop, where it
    /// has no other events. If the name is served again, look it up again. A forked child has to
    /// look up its names too: an inherited port is its parent's, and invalid in the child.
    ///
    /// > Threading: Any thread.
    public final class Remote: UVRunLoop.PortSource {
        /// The port's registration with its loop.
        public let link: UVRunLoop.PortLink
        /// The name.
        public let name: String
        /// The credentials of the process that listens.
        public let peer: UVRunLoop.PeerCredentials
        let connection: RemoteConnection
        private let receiver: RemoteReceiver

        /// Makes a port that is connected to a name.
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

        /// Called once, when the port becomes invalid, on the thread that causes or notices it.
        ///
        /// If the port is already invalid, setting a handler calls it at once. The property is
        /// `nil` once the port is invalid.
        ///
        /// > Threading: Any thread.
        public var invalidationHandler: (@Sendable (Remote) -> Void)? {
            get { connection.isOfThisProcess ? receiver.invalidation.handler : nil }
            set {
                // A forked child leaves its parent's handler alone.
                if !connection.isOfThisProcess { newValue?(self); return }
                receiver.invalidation.setHandler(newValue, of: self)
            }
        }

        /// Closes the connection; senders that wait for a reply get an error.
        ///
        /// The socket is closed when this returns, or as soon as the threads and tasks that wait for
        /// it go on.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            connection.end(.becameInvalid)
        }
    }
}

/// Serves a remote port that was added to a loop, to report that it became invalid.
final class RemoteReceiver: PortReceiver {
    let invalidation = Invalidation<MessagePort.Remote>()
    private let process = OwnerProcess()
    private let port = Guarded<Weak<MessagePort.Remote>?>(nil)

    func attach(_ port: MessagePort.Remote) {
        let port = Weak(port)
        self.port.withLock { $0 = port }
    }

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        process.require(caller, "belongs to the parent process. Look up its name in this one.")
    }

    func receive(
        port: MessagePort.Remote,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        port.connection.receive()
        return ServeResult(wasHandled: !port.connection.isOpen)
    }

    func connectionDidEnd() {
        // A port that is being freed has no invalidation handler to call.
        guard let port = port.withLock({ $0?.object }) else { return }
        UVRunLoop.invalidate(port)
        invalidation.end()?(port)
    }

    func releaseHandler() {
        // A port that is being freed ends its connection in `deinit`.
        port.withLock { $0?.object }?.connection.end(.becameInvalid)
    }
}
