import UVRunLoop

extension UVRunLoop {
    /// Listeners and their connections, which end together and in order.
    ///
    /// A group holds its ports in a mode of one loop. ``end(limit:completion:)`` closes the
    /// listeners, lets each connection finish what is under way, closes what is left when a limit
    /// has passed, and then says how many connections finished and how many did not.
    ///
    /// ```swift
    /// let group = UVRunLoop.ConnectionGroup(on: loop)
    /// try group.listen(at: .ipv4Loopback(port: 7_000)) { connection, event in
    ///     if case .received(let bytes) = event { connection.send(bytes) }
    /// }
    /// try loop.onTermination { group.end(limit: .seconds(5)) }
    /// loop.run()  // Returns when the connections have ended.
    /// ```
    ///
    /// The connections that a listener has not accepted when the end begins are reset: nothing that
    /// they sent was read, so their clients may try elsewhere.
    ///
    /// A connection is held from ``add(_:)`` until it is invalid. Its ports retain a group, which
    /// need not be kept. When the loop's thread ends, its ports become invalid.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class ConnectionGroup: Sendable {
        /// How the connections of a group have ended.
        ///
        /// > Threading: Any thread.
        public struct Outcome: Hashable, Sendable {
            /// The connections that became invalid without an error since the end began.
            public internal(set) var finished = 0
            /// The connections that failed since then, for example because the peer reset them.
            public internal(set) var failed = 0
            /// The connections that were closed because the limit had passed.
            public internal(set) var cut = 0
        }

        typealias Goodbye = (SocketPort) -> Void

        /// The loop that serves the group's ports.
        public let loop: UVRunLoop
        /// The mode that they are in.
        public let mode: Mode
        let goodbye: HomeBound<Goodbye>
        let state = Guarded(ConnectionGroupState())

        /// Makes a group without ports.
        ///
        /// The goodbye is called once for each connection when the end begins, in the order in
        /// which they were added, on the loop's thread. It must see to it that the connection ends:
        /// at once, after a last message, or when the request under way is answered. Use
        /// ``SocketPort/endSending()``, after which the connection ends when its queue is sent and
        /// its peer has ended, too. That is also what a group without a goodbye does. Do not use
        /// ``SocketPort/invalidateWhenDrained()`` where the peer may still send: the system resets
        /// a connection with unread input, and the peer may lose what was sent last.
        ///
        /// The goodbye and what it captures are released when the end is over. If the loop's thread
        /// ends before the group does, they go with the group; so a goodbye that captures its group
        /// must do so weakly.
        ///
        /// > Threading: The thread of the loop, because the goodbye is bound to it; any thread
        /// > without a goodbye.
        ///
        /// - Parameters:
        ///   - loop: The loop that serves the group's ports.
        ///   - mode: The mode that they are added to.
        ///   - goodbye: Begins the end of a connection.
        public convenience init(
            on loop: UVRunLoop,
            mode: Mode = .default,
            goodbye: ((SocketPort) -> Void)? = nil
        ) {
            self.init(loop, mode, goodbye.map { HomeBound($0) } ?? Self.plainGoodbye)
        }

        /// Makes a group whose goodbye may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - loop: The loop that serves the group's ports.
        ///   - mode: The mode that they are added to.
        ///   - sendableGoodbye: Begins the end of a connection, on the loop's thread; see
        ///     ``init(on:mode:goodbye:)``.
        @_disfavoredOverload
        public convenience init(
            on loop: UVRunLoop,
            mode: Mode = .default,
            sendableGoodbye: @escaping @Sendable (SocketPort) -> Void
        ) {
            self.init(loop, mode, HomeBound(sendable: sendableGoodbye))
        }

        private init(_ loop: UVRunLoop, _ mode: Mode, _ goodbye: HomeBound<Goodbye>) {
            self.loop = loop
            self.mode = mode
            self.goodbye = goodbye
        }

        private static var plainGoodbye: HomeBound<Goodbye> {
            HomeBound(sendable: { $0.endSending() })
        }

        /// The connections that are not invalid, in the order in which they were added.
        public var connections: [SocketPort] { state.withLock { $0.connections.values } }

        /// The number of connections.
        public var count: Int { state.withLock { $0.connections.count } }

        /// Whether the end has begun.
        public var isEnding: Bool { state.withLock { $0.ending != nil } }

        // MARK: Ports

        /// Makes a listener, whose connections join the group.
        ///
        /// The handler gets the events of the listener and of its connections, each with the port
        /// that it belongs to. When it gets ``SocketPort/Event/accepted(_:)``, the connection is in
        /// the group and has the same handler.
        ///
        /// > Threading: The thread of the group's loop, because the handler is bound to it.
        ///
        /// - Parameters:
        ///   - address: The address to listen at.
        ///   - options: The listener's options.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - handler: Called on the loop's thread with each event.
        /// - Returns: The listener.
        /// - Throws: ``SocketError`` if the address is in use, not available or not permitted, or
        ///   no descriptors are left.
        @discardableResult
        public func listen(
            at address: SocketAddress,
            options: SocketPort.ListenOptions = SocketPort.ListenOptions(),
            order: Int = 0,
            handler: @escaping (SocketPort, SocketPort.Event) -> Void
        ) throws(SocketError) -> SocketPort {
            let listener = try SocketPort(
                listeningAt: address,
                options: options,
                order: order
            ) { listener, event in
                if case .accepted(let connection) = event {
                    connection.setHandler(handler)
                    self.add(connection)
                }
                handler(listener, event)
            }
            add(listener)
            return listener
        }

        /// Adds a port to the group, and to its mode of the loop.
        ///
        /// A listener that is added after the end has begun is closed at once; a connection begins
        /// to end when the loop next performs blocks, or is closed if the end is over. Either is
        /// closed if the loop's thread has ended.
        ///
        /// A connection is in one group until it is invalid; adding it to that group again has no
        /// effect. Adding an invalid one has none, either.
        ///
        /// > Threading: Any thread; for a port with a plain handler, the thread of the loop. Traps
        /// > if the connection is in another group.
        ///
        /// - Parameter port: A listener or a connection, which has its handler, if it is to have
        ///   one.
        public func add(_ port: SocketPort) {
            switch port.role {
            case .listener: hold(listener: port)
            case .stream(let stream): hold(connection: port, stream)
            }
        }

        private func hold(listener: SocketPort) {
            let isHeld = state.withLock { $0.insert(listener: listener) }
            guard isHeld else { return listener.invalidate() }
            listener.role.receiver.withResources { $0.isInGroup = true }
            loop.addUntilEnd(listener, forMode: mode)
        }

        private func hold(connection: SocketPort, _ stream: StreamReceiver) {
            guard let joined = stream.state.withLock({ $0.join(self) }) else { return }
            require(
                joined === self,
                "A connection is in one group until it is invalid. Add it to one group only."
            )
            switch state.withLock({ $0.insert(connection, stream) }) {
            case .refused: connection.invalidate()
            case .wasThere: break
            case .stored(let isLate): serve(connection, stream, isLate: isLate)
            }
        }

        private func serve(_ connection: SocketPort, _ stream: StreamReceiver, isLate: Bool) {
            // One that has closed in the meantime may have reported so before it was stored.
            let (isOpen, failure) = stream.state.withLock { stream in
                (stream.resources.descriptor != nil, stream.lifecycle.failure)
            }
            guard isOpen else { return connectionDidClose(stream, failure) }
            loop.addUntilEnd(connection, forMode: mode)
            if isLate { loop.perform(inModes: [mode]) { self.sayGoodbye(to: connection) } }
        }
    }
}

extension UVRunLoop.ConnectionGroup: CustomReflectable {
    /// A mirror without children: the object's parts are not for other code.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
