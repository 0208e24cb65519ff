import UVRunLoop

extension UVRunLoop.MessagePort {
    /// A named port that receives messages.
    ///
    /// Make one with ``UVRunLoop/MessagePort/local(named:order:limits:acceptPeer:handler:)`` and
    /// add it to a loop. Messages of one sender arrive in order, one in a pass. While no run serves
    /// the port they wait, and once buffers are full, senders block.
    ///
    /// The process owns the name from when the port is made until it is invalid or released;
    /// another process can take it only after that, or after this process has ended. A forked child
    /// has neither the name nor the use of the port. But it inherits the listener, which delays
    /// clients that connected to the parent and were not accepted yet, so a child that goes on
    /// should `exec`.
    ///
    /// When the thread of its loop ends, the port becomes invalid.
    ///
    /// > Threading: Any thread.
    public final class Local: UVRunLoop.PortSource {
        /// The port's registration with its loop.
        public let link: UVRunLoop.PortLink
        /// The name; an unguessable one for a port made without a name.
        public let name: String
        let receiver: LocalReceiver
        private let process = OwnerProcess()

        /// How many connections may wait to be accepted; the system may allow fewer.
        private static let backlog = 4096

        /// Returns this process's port with a name, made if there is none.
        static func port(
            _ name: PortName,
            in directory: PortDirectory,
            order: Int,
            limits: Limits,
            acceptPeer: PeerPolicy?,
            handler: HomeBound<LocalReceiver.Body>?
        ) throws(MessagePortError) -> Local {
            let files = try directory.files(of: name)
            return try PortRegistry.current.port(of: files.key) { () throws(MessagePortError) in
                try Local(name, files, directory, order, limits, acceptPeer, handler)
            }
        }

        /// Makes a port with an unguessable name.
        static func unnamed(
            in directory: PortDirectory,
            order: Int,
            limits: Limits,
            acceptPeer: PeerPolicy?,
            handler: HomeBound<LocalReceiver.Body>?,
            name: () -> PortName = PortName.unguessable
        ) throws(MessagePortError) -> Local {
            ReplySweep.sweepOnce(directory)
            var attemptsLeft = 8
            while true {
                do {
                    return try port(
                        name(),
                        in: directory,
                        order: order,
                        limits: limits,
                        acceptPeer: acceptPeer,
                        handler: handler
                    )
                } catch .nameTaken where attemptsLeft > 0 {
                    // Another process's sweep took the name for a stale one, between the creation
                    // of the lock file and its locking.
                    attemptsLeft -= 1
                }
            }
        }

        private init(
            _ name: PortName,
            _ files: PortFiles,
            _ directory: PortDirectory,
            _ order: Int,
            _ limits: Limits,
            _ policy: PeerPolicy?,
            _ handler: HomeBound<LocalReceiver.Body>?
        ) throws(MessagePortError) {
            let claim = try NameClaim(files)
            let listener = try claim.listen(backlog: Self.backlog)
            let server = try LocalPortServer.make(listener, limits, hasPolicy: policy != nil)
            let descriptor = server.descriptor
            self.name = name.text
            receiver = LocalReceiver(
                server,
                claim: claim,
                directory: directory,
                policy: policy,
                handler: handler
            )
            link = UVRunLoop.PortLink(
                descriptor: descriptor,
                events: .readable,
                order: order,
                warnsAs: "a local message port",
                receiver: receiver
            )
        }

        deinit {
            receiver.releaseHandler()
            PortRegistry.current.forget(receiver.claim)
        }

        /// Whether the port receives messages; in a forked child, a port of the parent does not.
        public var isValid: Bool { process.isCurrent && link.isValid }

        /// The number of connected remote ports.
        public var connectionCount: Int { receiver.connectionCount }

        /// Called once, when the port becomes invalid, on the thread that invalidates it.
        ///
        /// If the port is already invalid, setting a handler calls it at once. The property is
        /// `nil` once the port is invalid. In a forked child it is not called for the parent's port.
        ///
        /// > Threading: Any thread.
        public var invalidationHandler: (@Sendable (Local) -> Void)? {
            get { receiver.invalidation.handler }
            set { receiver.invalidation.setHandler(newValue, of: self) }
        }

        /// Removes the port from its loop and releases its name.
        ///
        /// Senders that wait for a reply get an error; pending messages are dropped. After this
        /// returns on the loop's thread, the handler is not called again. After it returns on any
        /// thread, the name is free, even if another thread invalidates the port at the same time.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
            receiver.invalidation.end()?(self)
        }
    }
}

extension LocalPortServer {
    fileprivate static func make(
        _ listener: consuming Descriptor,
        _ limits: MessagePort.Limits,
        hasPolicy: Bool
    ) throws(MessagePortError) -> LocalPortServer {
        do throws(UVError) {
            return try LocalPortServer(listener: listener, limits: limits, hasPolicy: hasPolicy)
        } catch {
            throw MessagePortError(error)
        }
    }
}
