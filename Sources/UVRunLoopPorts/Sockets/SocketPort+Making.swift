import UVRunLoop

extension UVRunLoop.SocketPort {
    /// The options of a listener.
    ///
    /// > Threading: Any thread.
    public struct ListenOptions: Hashable, Sendable {
        /// How many connections may wait to be accepted; the system has a limit of its own
        /// (`net.core.somaxconn`).
        public var backlog = 4096
        /// How many accepted connections may be open at a time; further clients wait in the
        /// backlog.
        public var maximumConnections: Int?
        /// Whether an IPv6 listener leaves the IPv4 port of the same number to others.
        public var isIPv6Only = true
        /// Whether to replace a socket file of this user at which no process listens.
        ///
        /// Listeners that start in one directory take turns with `flock`. If somebody else keeps
        /// the directory locked for 100 ms, nothing is replaced, and the address is in use.
        public var replacesStaleSocket = false
        /// Whether to disable Nagle's algorithm for connections, so that small writes are sent at
        /// once.
        public var hasNoDelay = true

        /// Makes the default options.
        public init() {}
    }

    /// Makes a listener.
    ///
    /// It listens from now on; clients wait in the backlog until a loop serves the port. If
    /// descriptors or memory run out, accepting pauses until one of its connections closes, or for
    /// 100 ms.
    ///
    /// > Threading: The thread whose loop is to serve the listener, because the handler stays on
    /// > it.
    ///
    /// - Parameters:
    ///   - address: The address to listen at.
    ///   - options: The listener's options.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - handler: Called on the loop's thread with each event.
    /// - Throws: ``UVRunLoop/SocketError`` if the address is in use, not available or not
    ///   permitted, or no descriptors are left.
    public convenience init(
        listeningAt address: UVRunLoop.SocketAddress,
        options: ListenOptions = ListenOptions(),
        order: Int = 0,
        handler: @escaping (UVRunLoop.SocketPort, Event) -> Void
    ) throws(UVRunLoop.SocketError) {
        try self.init(listeningAt: address, options, order, HomeBound(handler))
    }

    /// Makes a listener, whose handler may be called on any thread.
    ///
    /// It listens from now on; clients wait in the backlog until a loop serves the port. If
    /// descriptors or memory run out, accepting pauses until one of its connections closes, or for
    /// 100 ms.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - address: The address to listen at.
    ///   - options: The listener's options.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - sendableHandler: Called on the loop's thread with each event.
    /// - Throws: ``UVRunLoop/SocketError`` if the address is in use, not available or not
    ///   permitted, or no descriptors are left.
    @_disfavoredOverload
    public convenience init(
        listeningAt address: UVRunLoop.SocketAddress,
        options: ListenOptions = ListenOptions(),
        order: Int = 0,
        sendableHandler: @escaping @Sendable (UVRunLoop.SocketPort, Event) -> Void
    ) throws(UVRunLoop.SocketError) {
        try self.init(listeningAt: address, options, order, HomeBound(sendable: sendableHandler))
    }

    /// Makes a listener whose connections a task takes; see ``connections``.
    ///
    /// It listens from now on; clients wait in the backlog until a loop serves the port.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - address: The address to listen at.
    ///   - options: The listener's options.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    /// - Throws: ``UVRunLoop/SocketError`` if the address is in use, not available or not
    ///   permitted, or no descriptors are left.
    public convenience init(
        listeningAt address: UVRunLoop.SocketAddress,
        options: ListenOptions = ListenOptions(),
        order: Int = 0
    ) throws(UVRunLoop.SocketError) {
        try self.init(listeningAt: address, options, order, nil)
    }

    private convenience init(
        listeningAt address: UVRunLoop.SocketAddress,
        _ options: ListenOptions,
        _ order: Int,
        _ handler: HomeBound<Body>?
    ) throws(UVRunLoop.SocketError) {
        let raw = try address.raw
        do {
            let receiver = try ListenerReceiver(at: address, raw, options)
            let number = receiver.withDescriptor { $0.number } ?? -1
            if let handler { _ = receiver.setHandler(handler) } else { receiver.beginTaking() }
            self.init(
                .listener(receiver),
                number,
                events: .readable,
                order: order,
                warnsAs: "a listener"
            )
            receiver.limiter.setListener(link)
        } catch {
            throw UVRunLoop.SocketError(system: error)
        }
    }

    /// Makes a connection.
    ///
    /// Connecting starts at once. The result, ``Event/connected`` or ``Event/failed(_:)``, is
    /// delivered once a loop serves the port. Bytes sent before the connection is established are
    /// queued. A TCP connection is established when a loop finds out; a Unix-domain one at once,
    /// unless the listener's backlog is full. The system does not tell when there is room again, so
    /// the loop tries in passes of its own, after 1 ms, and then at intervals that double up to 64
    /// ms.
    ///
    /// > Threading: The thread whose loop is to serve the connection, because the handler stays on
    /// > it.
    ///
    /// - Parameters:
    ///   - address: The listener's address.
    ///   - limit: How long connecting may take, from this call, before the port fails with
    ///     ``UVRunLoop/SocketError/Code/timedOut``; `nil` for the system's limit, about two
    ///     minutes. It is checked while a mode of the port runs.
    ///   - hasNoDelay: Whether to disable Nagle's algorithm, so that small writes are sent at once.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - handler: Called on the loop's thread with each event.
    /// - Throws: ``UVRunLoop/SocketError`` if the address is invalid or no descriptors are left.
    public convenience init(
        connectingTo address: UVRunLoop.SocketAddress,
        limit: Duration? = nil,
        hasNoDelay: Bool = true,
        order: Int = 0,
        handler: @escaping (UVRunLoop.SocketPort, Event) -> Void
    ) throws(UVRunLoop.SocketError) {
        try self.init(connectingTo: address, limit, hasNoDelay, order, HomeBound(handler))
    }

    /// Makes a connection, whose handler may be called on any thread.
    ///
    /// Connecting starts at once. The result, ``Event/connected`` or ``Event/failed(_:)``, is
    /// delivered once a loop serves the port. Bytes sent before the connection is established are
    /// queued. A TCP connection is established when a loop finds out; a Unix-domain one at once,
    /// unless the listener's backlog is full.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - address: The listener's address.
    ///   - limit: How long connecting may take, from this call, before the port fails with
    ///     ``UVRunLoop/SocketError/Code/timedOut``; `nil` for the system's limit, about two
    ///     minutes. It is checked while a mode of the port runs.
    ///   - hasNoDelay: Whether to disable Nagle's algorithm, so that small writes are sent at once.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - sendableHandler: Called on the loop's thread with each event.
    /// - Throws: ``UVRunLoop/SocketError`` if the address is invalid or no descriptors are left.
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
            HomeBound(sendable: sendableHandler)
        )
    }

    /// Makes a connection whose bytes a task takes; see ``bytes`` and ``connected(isolation:)``.
    ///
    /// Connecting starts at once; its result becomes known once a loop serves the port. Bytes sent
    /// before the connection is established are queued. A TCP connection is established when a loop
    /// finds out; a Unix-domain one at once, unless the listener's backlog is full.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - address: The listener's address.
    ///   - limit: How long connecting may take, from this call, before the port fails with
    ///     ``UVRunLoop/SocketError/Code/timedOut``; `nil` for the system's limit, about two
    ///     minutes. It is checked while a mode of the port runs.
    ///   - hasNoDelay: Whether to disable Nagle's algorithm, so that small writes are sent at once.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    /// - Throws: ``UVRunLoop/SocketError`` if the address is invalid or no descriptors are left.
    public convenience init(
        connectingTo address: UVRunLoop.SocketAddress,
        limit: Duration? = nil,
        hasNoDelay: Bool = true,
        order: Int = 0
    ) throws(UVRunLoop.SocketError) {
        try self.init(connectingTo: address, limit, hasNoDelay, order, nil)
    }

    private convenience init(
        connectingTo address: UVRunLoop.SocketAddress,
        _ limit: Duration?,
        _ hasNoDelay: Bool,
        _ order: Int,
        _ handler: HomeBound<Body>?
    ) throws(UVRunLoop.SocketError) {
        let deadline = limit.map { UVRunLoop.currentInstant(after: $0) }
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
        _ handler: HomeBound<Body>?,
        _ order: Int
    ) {
        if let handler { _ = receiver.setHandler(handler) } else { receiver.beginTaking() }
        self.init(
            .stream(receiver),
            number,
            events: receiver.interest,
            order: order,
            warnsAs: "a connection"
        )
    }

    /// Makes the port of an accepted connection.
    convenience init(
        accepted descriptor: consuming Descriptor,
        _ permit: consuming ConnectionPermit
    ) {
        let number = descriptor.number
        let receiver = StreamReceiver(StreamState(connected: descriptor, permit))
        self.init(.stream(receiver), number, events: .readable)
    }
}

extension ListenerReceiver {
    /// Opens a listening socket.
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
        // Accepted sockets inherit the option.
        if options.hasNoDelay { try socket.setNoDelay(true) }
        try socket.setReuseAddress(true)
        if address.family == AddressFamily.ipv6 { try socket.setIPv6Only(options.isIPv6Only) }
        try socket.bind(to: raw)
        try socket.listen(backlog: options.backlog)
        self.init(State(socket, nil), limit: limit)
    }
}
