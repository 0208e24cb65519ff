import UVRunLoop

extension UVRunLoop.SocketPort {
    /// How a listener listens.
    ///
    /// > Threading: Any thread.
    public struct ListenOptions: Hashable, Sendable {
        /// How many clients may wait to be accepted; the system has a limit of its own
        /// (`net.core.somaxconn`).
        public var backlog = 4096
        /// How many accepted connections may be open at a time; further clients wait in line.
        public var maximumConnections: Int?
        /// Whether a listener of `::` leaves clients of IPv4 to others.
        public var isIPv6Only = true
        /// Whether a socket of this user's that nobody listens at any more gives way to this one.
        public var replacesStaleSocket = false
        /// Whether the connections send small pieces at once instead of waiting for more of them.
        public var hasNoDelay = true

        /// Makes the usual options.
        public init() {}
    }

    /// Makes a listener.
    ///
    /// It listens from now on; clients wait until it is in a loop that runs. When descriptors or
    /// memory run out, it stops accepting until one of its connections closes, or for 100 ms.
    ///
    /// > Threading: The thread whose loop is to serve the listener, because the handler stays on
    /// it.
    ///
    /// - Parameters:
    ///   - address: Where to listen.
    ///   - options: How to listen.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - handler: Called on the loop's thread with each connection.
    /// - Throws: ``UVRunLoop/SocketError`` when the address is in use, not available or not
    ///   permitted, or no descriptors are left.
    public convenience init(
        listeningAt address: UVRunLoop.SocketAddress,
        options: ListenOptions = ListenOptions(),
        order: Int = 0,
        handler: @escaping (UVRunLoop.SocketPort, Event) -> Void
    ) throws(UVRunLoop.SocketError) {
        try self.init(listeningAt: address, options, order, ThreadBound(handler))
    }

    /// Makes a listener, whose handler may be called on any thread.
    ///
    /// It listens from now on; clients wait until it is in a loop that runs. When descriptors or
    /// memory run out, it stops accepting until one of its connections closes, or for 100 ms.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - address: Where to listen.
    ///   - options: How to listen.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - sendableHandler: Called on the loop's thread with each connection.
    /// - Throws: ``UVRunLoop/SocketError`` when the address is in use, not available or not
    ///   permitted, or no descriptors are left.
    @_disfavoredOverload
    public convenience init(
        listeningAt address: UVRunLoop.SocketAddress,
        options: ListenOptions = ListenOptions(),
        order: Int = 0,
        sendableHandler: @escaping @Sendable (UVRunLoop.SocketPort, Event) -> Void
    ) throws(UVRunLoop.SocketError) {
        try self.init(listeningAt: address, options, order, ThreadBound(sendable: sendableHandler))
    }

    private convenience init(
        listeningAt address: UVRunLoop.SocketAddress,
        _ options: ListenOptions,
        _ order: Int,
        _ handler: ThreadBound<Body>
    ) throws(UVRunLoop.SocketError) {
        let raw = try address.raw
        do {
            let receiver = try ListenerReceiver(at: address, raw, options)
            let number = receiver.withDescriptor { $0.number } ?? -1
            _ = receiver.setHandler(Handler(handler))
            self.init(.listener(receiver), number, events: .readable, order: order)
            receiver.tally.setListener(link)
        } catch {
            throw UVRunLoop.SocketError(system: error)
        }
    }

    /// Makes a connection.
    ///
    /// The connection is asked for at once; how that went, ``Event/connected`` or
    /// ``Event/failed(_:)``, is told when the port is in a loop that runs. What is sent before is
    /// queued.
    ///
    /// > Threading: The thread whose loop is to serve the connection, because the handler stays on
    /// it.
    ///
    /// - Parameters:
    ///   - address: Where the listener is.
    ///   - limit: How long connecting may take, counted from this call, before the port fails with
    ///     ``UVRunLoop/SocketError/Code/timedOut``; `nil` leaves it to the system, which gives up
    ///     after about two minutes. It is noticed while a mode runs that the port is in.
    ///   - hasNoDelay: Whether small pieces are sent at once instead of waiting for more of them.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - handler: Called on the loop's thread with each event.
    /// - Throws: ``UVRunLoop/SocketError`` when the address is none, or no descriptors are left.
    public convenience init(
        connectingTo address: UVRunLoop.SocketAddress,
        limit: Duration? = nil,
        hasNoDelay: Bool = true,
        order: Int = 0,
        handler: @escaping (UVRunLoop.SocketPort, Event) -> Void
    ) throws(UVRunLoop.SocketError) {
        try self.init(connectingTo: address, limit, hasNoDelay, order, ThreadBound(handler))
    }

    /// Makes a connection, whose handler may be called on any thread.
    ///
    /// The connection is asked for at once; how that went, ``Event/connected`` or
    /// ``Event/failed(_:)``, is told when the port is in a loop that runs. What is sent before is
    /// queued.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - address: Where the listener is.
    ///   - limit: How long connecting may take, counted from this call, before the port fails with
    ///     ``UVRunLoop/SocketError/Code/timedOut``; `nil` leaves it to the system, which gives up
    ///     after about two minutes. It is noticed while a mode runs that the port is in.
    ///   - hasNoDelay: Whether small pieces are sent at once instead of waiting for more of them.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - sendableHandler: Called on the loop's thread with each event.
    /// - Throws: ``UVRunLoop/SocketError`` when the address is none, or no descriptors are left.
    @_disfavoredOverload
    public convenience init(
        connectingTo address: UVRunLoop.SocketAddress,
        limit: Duration? = nil,
        hasNoDelay: Bool = true,
        order: Int = 0,
        sendableHandler: @escaping @Sendable (UVRunLoop.SocketPort, Event) -> Void
    ) throws(UVRunLoop.SocketError) {
        try self.init(
            connectingTo: address,
            limit,
            hasNoDelay,
            order,
            ThreadBound(sendable: sendableHandler)
        )
    }

    private convenience init(
        connectingTo address: UVRunLoop.SocketAddress,
        _ limit: Duration?,
        _ hasNoDelay: Bool,
        _ order: Int,
        _ handler: ThreadBound<Body>
    ) throws(UVRunLoop.SocketError) {
        let deadline = limit.map { UVRunLoop.Instant.now + $0 }
        let attempt = ConnectionAttempt(try address.raw, until: deadline)
        do {
            let socket = try Stream.socket(family: address.family)
            if address.isTCP, hasNoDelay { try socket.setNoDelay(true) }
            self.init(
                socket.number,
                StreamReceiver(StreamState(connecting: socket, attempt)),
                handler,
                order
            )
        } catch {
            throw UVRunLoop.SocketError(system: error)
        }
    }

    private convenience init(
        _ number: CInt,
        _ receiver: StreamReceiver,
        _ handler: ThreadBound<Body>,
        _ order: Int
    ) {
        _ = receiver.setHandler(Handler(handler))
        self.init(.stream(receiver), number, events: receiver.wanted, order: order)
    }

    /// Makes a connection of a listener's.
    convenience init(accepted descriptor: consuming Descriptor, _ membership: consuming Membership)
    {
        let number = descriptor.number
        let receiver = StreamReceiver(StreamState(connected: descriptor, membership))
        self.init(.stream(receiver), number, events: .readable)
    }
}

extension ListenerReceiver {
    /// Opens a listener.
    convenience init(
        at address: UVRunLoop.SocketAddress,
        _ raw: RawAddress,
        _ options: UVRunLoop.SocketPort.ListenOptions
    ) throws(UVError) {
        let socket = try Stream.socket(family: address.family)
        let limit = options.maximumConnections
        if case .unix(let path) = address {
            let file = try SocketFile.listen(
                socket,
                at: path,
                backlog: options.backlog,
                replacesStale: options.replacesStaleSocket
            )
            self.init(State(socket, file), limit: limit)
            return
        }
        // The connections have it from their listener.
        if options.hasNoDelay { try socket.setNoDelay(true) }
        try socket.setReuseAddress(true)
        if address.family == AddressFamily.ipv6 { try socket.setIPv6Only(options.isIPv6Only) }
        try socket.bind(to: raw)
        try socket.listen(backlog: options.backlog)
        self.init(State(socket, nil), limit: limit)
    }
}
