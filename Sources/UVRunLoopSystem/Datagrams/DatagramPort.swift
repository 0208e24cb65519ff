import UVRunLoop
import UVRunLoopPorts

extension UVRunLoop {
    /// Sends and receives datagrams over UDP.
    ///
    /// The socket is open from when the port is created. What it receives is delivered in batches,
    /// in the order of arrival, in the modes to which the port was added. When ``capacity`` events
    /// wait, the port receives no more until one was taken; the kernel then drops what its own
    /// buffer has no room for.
    ///
    /// The port becomes invalid when the thread of its loop ends.
    ///
    /// See *Configuring a Port-Based Input Source* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class DatagramPort: PortSource {
        /// A datagram that was received.
        public struct Datagram: Hashable, Sendable {
            /// The contents.
            public let bytes: [UInt8]
            /// The sender's address.
            public let sender: SocketAddress
            /// Whether the end of the contents is missing.
            public let isTruncated: Bool
        }

        /// Something that has happened to the port.
        ///
        /// More events may be added; ignore those that are not known.
        public enum Event: Hashable, Sendable {
            /// Datagrams have arrived: at least one, at most ``DatagramPort/batchSize``.
            case received([Datagram])
            /// A datagram was not sent, for example because it is too long or its address cannot be
            /// reached.
            case sendFailed(SystemError, to: SocketAddress?)
            /// Receiving has failed once, for example because the peer of a connected port has
            /// refused a datagram. The port stays valid, unless the kernel refuses to watch its
            /// socket; then this is the last event.
            case failed(SystemError)
        }

        /// Options of the socket.
        public struct Options: OptionSet, Hashable, Sendable {
            /// The bits of the set.
            public let rawValue: Int

            /// Creates a set from its bits.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// Several sockets may bind to the address, as for multicast.
            public static let reusesAddress = Options(rawValue: 1)
            /// Datagrams may be sent to broadcast addresses.
            public static let allowsBroadcast = Options(rawValue: 2)
            /// A socket for IPv6 does not receive IPv4 datagrams; one for IPv4 is not affected.
            public static let isIPv6Only = Options(rawValue: 4)
        }

        /// How many events may wait before the port receives no more.
        public static let capacity = 16
        /// How many datagrams an event has at most.
        public static let batchSize = 64
        /// How many bytes may wait to be sent, so that a further datagram is accepted.
        public static let maximumQueuedBytes = 4 << 20

        /// The link between the port and its loop.
        public let link: PortLink
        /// The address that the port is bound to.
        public let localAddress: SocketAddress?
        let socket: DatagramSocket
        private let receiver: EventReceiver<DatagramPort, Event>

        /// Opens a socket for the calling thread's loop.
        ///
        /// Add the port to the loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``. It takes one file
        /// descriptor.
        ///
        /// > Threading: The thread whose loop serves the port. Traps if the loop runs in virtual
        /// > time.
        ///
        /// - Parameters:
        ///   - address: The address to bind to; port 0 lets the system choose one.
        ///   - peer: The address to connect to: the port then receives from it only, and sends to
        ///     it only. `nil` for a port that exchanges datagrams with any address.
        ///   - options: The options of the socket.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with each event.
        /// - Throws: ``SystemError`` if the address is a path, in use or not this machine's, if no
        ///   descriptors are left, or if the loop has ended.
        @available(*, noasync, message: "Use datagramPort(boundTo:), which any task may call.")
        public convenience init(
            boundTo address: SocketAddress,
            connectedTo peer: SocketAddress? = nil,
            options: Options = [],
            order: Int = 0,
            handler: @escaping (DatagramPort, Event) -> Void
        ) throws(SystemError) {
            try self.init(address, peer, options, order, handler)
        }

        init(
            _ address: SocketAddress,
            _ peer: SocketAddress?,
            _ options: Options,
            _ order: Int,
            _ handler: ((DatagramPort, Event) -> Void)?
        ) throws(SystemError) {
            let inbox = EventInbox<Event>()
            let socket = try DatagramSocket(address, peer, options, inbox)
            self.socket = socket
            localAddress = socket.localAddress
            receiver = EventReceiver(inbox, [socket], handler, isLast: { _ in inbox.isAtEnd })
            link = receiver.makeLink(order: order, warnsAs: "a datagram port")
        }

        /// The events as a sequence, for a task that takes them instead of a handler.
        ///
        /// > Threading: Any thread.
        public var events: SystemEvents<Event> { SystemEvents(self, receiver) }

        // MARK: Sending

        /// Sends a datagram.
        ///
        /// It is sent at once if the kernel has room, and otherwise when it has; one that another
        /// thread sends, when the loop's thread is free. A failure is reported by
        /// ``Event/sendFailed(_:to:)``; while 16 failures wait to be delivered, no datagram is
        /// sent. UDP does not tell whether a datagram has arrived.
        ///
        /// > Threading: Any thread; the datagram follows those of all calls that returned before.
        ///
        /// - Parameters:
        ///   - bytes: The contents.
        ///   - address: The receiver's address; `nil` for the peer of a connected port.
        /// - Throws: ``SystemError`` if the port is invalid, if more than ``maximumQueuedBytes`` or
        ///   65,536 datagrams wait, or if the address is a path, missing, or given to a connected
        ///   port.
        public func send(
            _ bytes: [UInt8],
            to address: SocketAddress? = nil
        ) throws(SystemError) {
            guard isValid else { throw SystemError(.send, .invalidated) }
            try socket.send(bytes, to: address, limit: Self.maximumQueuedBytes)
        }

        /// How many bytes wait to be sent.
        ///
        /// > Threading: Any thread.
        public var queuedBytes: Int { socket.queuedByteCount }

        // MARK: Multicast

        /// Joins a multicast group.
        ///
        /// > Threading: The loop's own thread; traps elsewhere.
        ///
        /// - Parameters:
        ///   - group: The numeric address of the group, such as `239.1.2.3`.
        ///   - interface: The numeric address of the interface, for IPv6 also its name or index
        ///     behind a percent sign, such as `::%eth0`; `nil` for that of the group's address, or
        ///     else for the system's choice.
        /// - Throws: ``SystemError`` if the address is no group's, there is no such interface, the
        ///   port is in the group or is invalid.
        public func join(group: String, interface: String? = nil) throws(SystemError) {
            try setMembership(group, interface, isMember: true)
        }

        /// Leaves a multicast group.
        ///
        /// > Threading: The loop's own thread; traps elsewhere.
        ///
        /// - Parameters:
        ///   - group: The numeric address of the group.
        ///   - interface: The numeric address of the interface, for IPv6 also its name or index
        ///     behind a percent sign, such as `::%eth0`; `nil` for that of the group's address, or
        ///     else for the system's choice.
        /// - Throws: ``SystemError`` if the port is not in the group or is invalid.
        public func leave(group: String, interface: String? = nil) throws(SystemError) {
            try setMembership(group, interface, isMember: false)
        }

        private func setMembership(
            _ group: String,
            _ interface: String?,
            isMember: Bool
        ) throws(SystemError) {
            require(
                socket.loop.isOnOwnThread,
                "The groups of a datagram port are changed on the thread of its loop."
            )
            let texts = [group, interface ?? ""]
            guard texts.allSatisfy({ !$0.utf8.contains(0) }) else {
                throw SystemError(.configure, .invalidArgument)
            }
            try socket.setMembership(group, interface, isMember: isMember)
        }

        // MARK: The source

        /// Whether the port may still send and be served.
        public var isValid: Bool { link.isValid }

        /// Removes the port from its loop permanently, and closes its socket: on the loop's thread
        /// before this returns, from another one soon after.
        ///
        /// Datagrams that wait to be sent or delivered are dropped. Called on the loop's thread, no
        /// call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(self) }

        deinit { receiver.releaseHandler() }
    }

    /// Opens a socket for datagrams; see ``DatagramPort``.
    ///
    /// The port is in the common modes, which it keeps from being empty until it is invalidated.
    /// Take its ``DatagramPort/events``.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - address: The address to bind to; port 0 lets the system choose one.
    ///   - peer: The address to connect to; `nil` for a port that exchanges datagrams with any
    ///     address.
    ///   - options: The options of the socket.
    ///   - isolation: The caller's actor.
    /// - Returns: The port.
    /// - Throws: ``SystemError`` if the socket cannot be opened or bound; `CancellationError` if
    ///   the task is cancelled; ``PerformError/threadEnded`` if the loop's thread ends first or has
    ///   ended.
    public func datagramPort(
        boundTo address: SocketAddress,
        connectedTo peer: SocketAddress? = nil,
        options: DatagramPort.Options = [],
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> DatagramPort {
        try await started(isolation: isolation) {
            try DatagramPort(address, peer, options, 0, nil)
        }
    }
}
