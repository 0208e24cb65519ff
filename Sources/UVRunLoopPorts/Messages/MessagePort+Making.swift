import UVRunLoop

extension UVRunLoop.MessagePort {
    /// Returns this process's local port with a name, made if there is none.
    ///
    /// Add it to a loop with ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``.
    /// An existing port of this process is returned unchanged, with its own handler, limits and
    /// policy.
    ///
    /// Names are per user. They may contain any character except U+0000, and are compared by their
    /// UTF-8 bytes.
    ///
    /// > Threading: The thread whose loop is to serve the port, because the handler stays on it.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: The limits for peers.
    ///   - acceptPeer: Decides on the loop's thread which peers are accepted; `nil` accepts
    ///     processes of the same user.
    ///   - handler: Called on the loop's thread with each message. If the sender waits for a reply,
    ///     it gets the result; `nil` is a reply without data.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``, such as `.nameTaken` if another process has the
    ///   name.
    public static func local(
        named name: String,
        order: Int = 0,
        limits: Limits = Limits(),
        acceptPeer: PeerPolicy? = nil,
        handler: @escaping (Local, Message) -> [UInt8]?
    ) throws(UVRunLoop.MessagePortError) -> Local {
        try Local.port(
            PortName(name),
            in: .present(),
            order: order,
            limits: limits,
            acceptPeer: acceptPeer,
            handler: HomeBound(handler)
        )
    }

    /// Returns this process's local port with a name, made if there is none, with a handler that
    /// may be called on any thread.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: The limits for peers.
    ///   - acceptPeer: Decides on the loop's thread which peers are accepted; `nil` accepts
    ///     processes of the same user.
    ///   - sendableHandler: Called on the loop's thread with each message.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``.
    @_disfavoredOverload
    public static func local(
        named name: String,
        order: Int = 0,
        limits: Limits = Limits(),
        acceptPeer: PeerPolicy? = nil,
        sendableHandler: @escaping @Sendable (Local, Message) -> [UInt8]?
    ) throws(UVRunLoop.MessagePortError) -> Local {
        try Local.port(
            PortName(name),
            in: .present(),
            order: order,
            limits: limits,
            acceptPeer: acceptPeer,
            handler: HomeBound(sendable: sendableHandler)
        )
    }

    /// Returns this process's local port with a name, made if there is none, whose requests a task
    /// takes; see ``Local/requests``.
    ///
    /// An existing port of this process is returned unchanged, with its own handler, limits and
    /// policy.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: The limits for peers.
    ///   - acceptPeer: Decides on the loop's thread which peers are accepted; `nil` accepts
    ///     processes of the same user.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``, such as `.nameTaken` if another process has the
    ///   name.
    public static func local(
        named name: String,
        order: Int = 0,
        limits: Limits = Limits(),
        acceptPeer: PeerPolicy? = nil
    ) throws(UVRunLoop.MessagePortError) -> Local {
        try Local.port(
            PortName(name),
            in: .present(),
            order: order,
            limits: limits,
            acceptPeer: acceptPeer,
            handler: nil
        )
    }

    /// Makes a local port with an unguessable name, whose requests a task takes; see
    /// ``Local/requests``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: The limits for peers.
    ///   - acceptPeer: Decides on the loop's thread which peers are accepted; `nil` accepts
    ///     processes of the same user.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``.
    public static func local(
        order: Int = 0,
        limits: Limits = Limits(),
        acceptPeer: PeerPolicy? = nil
    ) throws(UVRunLoop.MessagePortError) -> Local {
        try Local.unnamed(
            in: .present(),
            order: order,
            limits: limits,
            acceptPeer: acceptPeer,
            handler: nil
        )
    }

    /// Makes a local port with an unguessable name, to be sent as a reply port.
    ///
    /// The first call of a process also removes some files that killed processes left of such
    /// ports.
    ///
    /// > Threading: The thread whose loop is to serve the port, because the handler stays on it.
    ///
    /// - Parameters:
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: The limits for peers.
    ///   - acceptPeer: Decides on the loop's thread which peers are accepted; `nil` accepts
    ///     processes of the same user.
    ///   - handler: Called on the loop's thread with each message.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``.
    public static func local(
        order: Int = 0,
        limits: Limits = Limits(),
        acceptPeer: PeerPolicy? = nil,
        handler: @escaping (Local, Message) -> [UInt8]?
    ) throws(UVRunLoop.MessagePortError) -> Local {
        try Local.unnamed(
            in: .present(),
            order: order,
            limits: limits,
            acceptPeer: acceptPeer,
            handler: HomeBound(handler)
        )
    }

    /// Makes a local port with an unguessable name, to be sent as a reply port, with a handler that
    /// may be called on any thread.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: The limits for peers.
    ///   - acceptPeer: Decides on the loop's thread which peers are accepted; `nil` accepts
    ///     processes of the same user.
    ///   - sendableHandler: Called on the loop's thread with each message.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``.
    @_disfavoredOverload
    public static func local(
        order: Int = 0,
        limits: Limits = Limits(),
        acceptPeer: PeerPolicy? = nil,
        sendableHandler: @escaping @Sendable (Local, Message) -> [UInt8]?
    ) throws(UVRunLoop.MessagePortError) -> Local {
        try Local.unnamed(
            in: .present(),
            order: order,
            limits: limits,
            acceptPeer: acceptPeer,
            handler: HomeBound(sendable: sendableHandler)
        )
    }

    /// Connects to the local port with a name.
    ///
    /// Each call returns a new port with its own connection.
    ///
    /// > Threading: Any thread. Connecting blocks only if the listener's backlog is full, for at
    /// > most a second.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - replyLimit: The most bytes of a reply; 16 MiB.
    ///   - acceptPeer: Decides whether the process that owns the name is accepted; `nil` accepts a
    ///     process of the same user.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``, such as `.noSuchPort` if no process serves
    ///   the name.
    public static func remote(
        named name: String,
        replyLimit: Int = Limits().maximumMessageSize,
        acceptPeer: PeerPolicy? = nil
    ) throws(UVRunLoop.MessagePortError) -> Remote {
        try Remote.connected(
            to: PortName(name),
            in: .present(),
            replyLimit: replyLimit,
            acceptPeer: acceptPeer
        )
    }
}
