extension UVRunLoop {
    /// A ``Port`` whose messages are values of one type.
    ///
    /// Copies refer to the same port. What is said of ``Port`` holds: the messages of one sender
    /// arrive in order, in the modes to which the port was added, and wait in a queue of limited
    /// length.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public struct TypedPort<Message: Sendable>: Hashable, Sendable {
        let port: Port

        /// Creates a port.
        ///
        /// > Threading: The thread whose loop serves the port, because the handler is bound to it.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may be queued; traps when it is less than one.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with each message.
        public init(
            capacity: Int = Port.defaultCapacity,
            order: Int = 0,
            handler: @escaping (TypedPort, Message) -> Void
        ) {
            port = Port(capacity: capacity, order: order) { port, message in
                if let value = Self.value(of: message) { handler(TypedPort(port: port), value) }
            }
        }

        /// Creates a port whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may be queued; traps when it is less than one.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - sendableHandler: Called on the loop's thread with each message.
        @_disfavoredOverload
        public init(
            capacity: Int = Port.defaultCapacity,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (TypedPort, Message) -> Void
        ) {
            port = Port(
                capacity: capacity,
                order: order,
                sendableHandler: { port, message in
                    if let value = Self.value(of: message) {
                        sendableHandler(TypedPort(port: port), value)
                    }
                }
            )
        }

        /// Creates a port whose messages are taken by a task; see ``messages``.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may be queued; traps when it is less than one.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        public init(capacity: Int = Port.defaultCapacity, order: Int = 0) {
            port = Port(capacity: capacity, order: order)
        }

        private init(port: Port) { self.port = port }

        /// The value in a message; only this type sends to its port.
        static func value(of message: PortMessage) -> Message? {
            guard case .value(let value) = message.components.first else { return nil }
            return value as? Message
        }

        /// Sends a message, as ``Port/send(_:limit:)`` does.
        ///
        /// > Threading: Any thread. Blocks the thread: in a task, pass a limit of zero.
        ///
        /// - Parameters:
        ///   - message: The message.
        ///   - limit: How long to wait for room; `nil` to wait forever, zero or less not to wait.
        /// - Returns: Whether the message was queued.
        public func send(_ message: Message, limit: Duration? = nil) -> Bool {
            port.send(PortMessage(components: [.value(message)]), limit: limit)
        }

        /// The position among sources that become ready at the same time; lower ones are served
        /// first.
        public var order: Int { port.order }

        /// How many messages may be queued.
        public var capacity: Int { port.capacity }

        /// How many messages are queued.
        public var count: Int { port.count }

        /// Whether the port accepts messages; see ``Port/isValid``.
        public var isValid: Bool { port.isValid }

        /// Removes the port from its loop permanently; see ``Port/invalidate()``.
        ///
        /// > Threading: Any thread.
        public func invalidate() { port.invalidate() }

        /// Whether two values refer to the same port.
        public static func == (one: Self, other: Self) -> Bool { one.port === other.port }

        /// Hashes the identity of the port.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(port)) }
    }

    // MARK: Modes

    /// Adds a typed port to a mode, as ``add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``
    /// does.
    ///
    /// > Threading: Any thread; for a port with a plain handler, the loop must be that of the
    /// > thread that created it.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - mode: The mode, the default one if none is given.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    public func add<Message>(
        _ port: TypedPort<Message>,
        forMode mode: Mode = .default,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        add(port.port, forMode: mode, file: file, line: line)
    }

    /// Removes a typed port from a mode, as ``remove(_:forMode:)-(UVRunLoop.PortSource,_)`` does.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - mode: The mode.
    public func remove<Message>(_ port: TypedPort<Message>, forMode mode: Mode) {
        remove(port.port, forMode: mode)
    }

    /// Returns whether a typed port is in a mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - mode: The mode.
    /// - Returns: Whether it is.
    public func contains<Message>(_ port: TypedPort<Message>, forMode mode: Mode) -> Bool {
        contains(port.port, forMode: mode)
    }
}
