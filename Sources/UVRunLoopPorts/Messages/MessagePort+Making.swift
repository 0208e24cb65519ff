import UVRunLoop

extension UVRunLoop.MessagePort {
    /// The local port of a name, made if this process has none.
    ///
    /// Add it to a loop with ``UVRunLoop/add(_:forMode:)-(UVRunLoop.PortSource,_)``. A port that
    /// this process has under the name already is returned as it is, with the handler, limits and
    /// policy that it was made with.
    ///
    /// Names are per user. They may hold any characters but a zero; two names are the same when
    /// their bytes in UTF-8 are.
    ///
    /// > Threading: The thread whose loop is to serve the port, because the handler stays on it.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: What peers are granted.
    ///   - acceptPeer: Decides, on the loop's thread, who may send; `nil` for the user's own
    ///     processes only.
    ///   - handler: Called on the loop's thread with each message. What it returns is the reply to
    ///     a sender that waits for one; `nil` is a reply without data.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``, such as `.nameTaken` when another process has the
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
            handler: ThreadBound(handler)
        )
    }

    /// The local port of a name, made if this process has none, with a handler that may be called
    /// on any thread.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: What peers are granted.
    ///   - acceptPeer: Decides, on the loop's thread, who may send; `nil` for the user's own
    ///     processes only.
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
            handler: ThreadBound(sendable: sendableHandler)
        )
    }

    /// Makes a local port that nobody knows of but those to whom it is sent as a reply port.
    ///
    /// With its first one, a process also removes some of what killed processes left of theirs.
    ///
    /// > Threading: The thread whose loop is to serve the port, because the handler stays on it.
    ///
    /// - Parameters:
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: What peers are granted.
    ///   - acceptPeer: Decides, on the loop's thread, who may send; `nil` for the user's own
    ///     processes only.
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
            handler: ThreadBound(handler)
        )
    }

    /// Makes a local port that nobody knows of but those to whom it is sent as a reply port, with
    /// a handler that may be called on any thread.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - order: The turn among sources that become ready at the same time; lower ones first.
    ///   - limits: What peers are granted.
    ///   - acceptPeer: Decides, on the loop's thread, who may send; `nil` for the user's own
    ///     processes only.
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
            handler: ThreadBound(sendable: sendableHandler)
        )
    }

    /// A remote port of a name that somebody serves.
    ///
    /// Every call connects, and returns a port that nobody else has.
    ///
    /// > Threading: Any thread. Connects, which waits only, and at most a second, when more want to
    /// connect than the system lets stand in line.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - replyLimit: The most bytes that a reply may have; 16 MiB.
    ///   - acceptPeer: Decides whether to deal with the process that serves the name; `nil` for one
    ///     of the same user only.
    /// - Returns: The port.
    /// - Throws: ``UVRunLoop/MessagePortError``, such as `.noSuchPort` when nobody serves the name.
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
