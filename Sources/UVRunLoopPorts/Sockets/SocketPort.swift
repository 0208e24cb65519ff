import UVRunLoop

extension UVRunLoop {
    /// A stream socket as an input source: a listener, or one end of a connection.
    ///
    /// TCP over either version of the Internet Protocol, and Unix-domain stream sockets. A port is
    /// added to modes of a loop like every port-based source; what happens while another mode runs
    /// waits in the kernel. Each pass serves a port with one event.
    ///
    /// A connection that is accepted comes as a port of its own, with the event
    /// ``Event/accepted(_:)``: give it a handler with ``setHandler(_:)`` and add it to a loop, or
    /// let it go, which closes it.
    ///
    /// A port that is in a loop lives until it is invalidated, fails, or both directions have
    /// ended; then its socket is closed. One that is in no loop closes its socket when it is let
    /// go.
    ///
    /// See *Port-Based Sources* in Apple's guide; CFSocket and NSSocketPort are its counterparts.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class SocketPort: PortSource {
        /// What a port tells its handler.
        ///
        /// > Threading: Any thread.
        public enum Event: Sendable {
            /// The connection that was asked for is there.
            case connected
            /// The listener has accepted a connection, which has no handler yet.
            case accepted(SocketPort)
            /// The peer has sent something: what one read brought, never nothing.
            case received([UInt8])
            /// The peer sends no more; it may still listen.
            ///
            /// Everything that it sent has been received. A peer that resets the connection does
            /// not end it this way: that is ``failed(_:)``.
            case ended
            /// The queue has become as short as the low mark, after it was longer than the high
            /// one.
            case drained
            /// The last event: the port is invalid, for this reason.
            case failed(SocketError)
        }

        typealias Body = (SocketPort, Event) -> Void

        enum Role: Sendable {
            case listener(ListenerReceiver)
            case stream(StreamReceiver)

            var receiver: any SocketReceiver {
                switch self {
                case .listener(let receiver): receiver
                case .stream(let receiver): receiver
                }
            }
        }

        /// What a loop knows the port by.
        public let link: PortLink
        let role: Role

        init(
            _ role: Role,
            _ number: CInt,
            events: DescriptorSource.Events,
            order: Int = 0
        ) {
            self.role = role
            link = PortLink(
                descriptor: number,
                events: events,
                order: order,
                receiver: role.receiver
            )
        }

        /// Its turn among sources that become ready at the same time; lower ones are served first.
        public var order: Int { link.order }

        /// Whether the port was neither invalidated nor has failed, nor have both its directions
        /// ended.
        public var isValid: Bool { link.isValid }

        /// Takes the port out of its loop for good, and closes its socket.
        ///
        /// What is queued is dropped; ``endSending()`` and ``invalidateWhenDrained()`` send it. When
        /// something is dropped, a TCP connection is reset, so that the peer does not take what it
        /// has for all. On a Unix-domain socket nothing can tell the peer. The file that a listener made goes with it, if it is still the same. When this returns
        /// on the loop's thread, no call begins any more.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }

        // MARK: The handler

        /// Gives an accepted connection its handler, which stays on this thread.
        ///
        /// Do so before you add it to a loop, of this thread; later it traps.
        ///
        /// > Threading: The thread whose loop is to serve the connection.
        ///
        /// - Parameter handler: Called on the loop's thread with each event.
        public func setHandler(_ handler: @escaping (SocketPort, Event) -> Void) {
            setHandler(ThreadBound(handler))
        }

        /// Gives an accepted connection its handler, which may be called on any thread.
        ///
        /// Do so before you add it to a loop; later it traps.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter handler: Called on the loop's thread with each event.
        public func setSendableHandler(
            _ handler: @escaping @Sendable (SocketPort, Event) -> Void
        ) {
            setHandler(ThreadBound(sendable: handler))
        }

        private func setHandler(_ handler: ThreadBound<Body>) {
            require(
                link.loop == nil,
                "A port's handler is set before the port is added to a loop. Remove the port first."
            )
            role.receiver.setHandler(Handler(handler))?.release()
        }

        // MARK: Addresses

        /// Where the port is; `nil` when it is invalid.
        ///
        /// A listener at port 0 has the one here that the system chose.
        public var localAddress: SocketAddress? {
            role.receiver.withDescriptor { descriptor in try? descriptor.localAddress() }
                .flatMap { SocketAddress($0) }
        }

        /// Where the peer is; `nil` for a listener, and when there is no connection.
        public var peerAddress: SocketAddress? {
            role.receiver.withDescriptor { descriptor in try? descriptor.peerAddress() }
                .flatMap { SocketAddress($0) }
        }

        /// Which process is at the other end of a Unix-domain connection, by the kernel's word;
        /// `nil` for others.
        public var peerCredentials: PeerCredentials? {
            guard case .stream = role, case .unix = localAddress else { return nil }
            return role.receiver.withDescriptor { descriptor in try? descriptor.peerCredentials() }
        }

        /// Has the kernel asked for what the port waits for now.
        func askAnew() {
            let receiver = role.receiver
            link.setEvents { receiver.wanted }
        }
    }
}
