import UVRunLoop

extension UVRunLoop.MessagePort {
    /// A port with a name, whose handler gets what others send to it.
    ///
    /// Make one with ``UVRunLoop/MessagePort/local(named:order:limits:acceptPeer:handler:)`` and
    /// add it to a loop. Messages of one sender arrive in the order in which they were sent, one
    /// in a pass. Until a run serves the port they wait, and so in the end do the senders.
    ///
    /// The name is this process's from when the port is made until it is invalid or nobody holds
    /// it any more: dead or alive, the process never shares it. A forked child has neither the
    /// name nor the use of the port, but a listener that it inherits holds up those who connected
    /// to its parent and were not accepted yet; a child that lives on had better `exec`.
    ///
    /// When the thread of its loop ends, the port becomes invalid.
    ///
    /// > Threading: Any thread.
    public final class Local: UVRunLoop.PortSource {
        /// What a loop knows the port by.
        public let link: UVRunLoop.PortLink
        /// The name; for a port made without one, a name that nobody guesses.
        public let name: String
        private let key: PortFiles.Key
        private let receiver: LocalReceiver

        /// How many may have connected and not been accepted yet; the system may allow fewer.
        private static let backlog = 4096

        /// The port of a name, made if this process has none.
        static func port(
            _ name: PortName,
            in directory: PortDirectory,
            order: Int,
            limits: Limits,
            acceptPeer: PeerPolicy?,
            handler: ThreadBound<LocalReceiver.Body>
        ) throws(MessagePortError) -> Local {
            let files = try directory.files(of: name)
            return try PortRegistry.current.port(of: files.key) { () throws(MessagePortError) in
                try Local(name, files, directory, order, limits, acceptPeer, handler)
            }
        }

        /// A port with a name that nobody guesses.
        static func unnamed(
            in directory: PortDirectory,
            order: Int,
            limits: Limits,
            acceptPeer: PeerPolicy?,
            handler: ThreadBound<LocalReceiver.Body>,
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
                    // Between the making of its lock's file and the locking, another process's
                    // sweep took the name for one that was left.
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
            _ handler: ThreadBound<LocalReceiver.Body>
        ) throws(MessagePortError) {
            let claim = try NameClaim(files)
            let listener = try claim.listen(backlog: Self.backlog)
            let server = try LocalPortServer.make(listener, limits, hasPolicy: policy != nil)
            let descriptor = server.descriptor
            self.name = name.text
            self.order = order
            key = files.key
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
                receiver: receiver
            )
        }

        deinit {
            receiver.releaseHandler(in: nil)
            PortRegistry.current.forget(key, of: ObjectIdentifier(self))
        }

        /// Its turn among sources that become ready at the same time; lower ones are served first.
        public let order: Int

        /// Whether the port takes messages.
        public var isValid: Bool { link.isValid }

        /// How many remote ports are connected.
        public var connectionCount: Int { receiver.connectionCount }

        /// Called once, when the port becomes invalid, on the thread that makes it so.
        ///
        /// Set on a port that is invalid already, it is called at once. It is `nil` once the port
        /// is invalid.
        ///
        /// > Threading: Any thread.
        public var invalidationHandler: (@Sendable (Local) -> Void)? {
            get { receiver.invalidation.handler }
            set { receiver.invalidation.setHandler(newValue, of: self) }
        }

        /// Takes the port out of its loop for good, and gives its name up.
        ///
        /// Those who wait for a reply are told; messages that wait are dropped. On the loop's
        /// thread no call begins any more when this returns.
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
