import UVRunLoop

extension UVRunLoop {
    /// A stream socket as an input source: a listener, or one end of a connection.
    ///
    /// It supports TCP over IPv4 and IPv6, and Unix-domain stream sockets. Like every port-based
    /// source, a port is added to modes of a loop; while another mode runs, its events wait in the
    /// kernel. Each pass serves one event of a port.
    ///
    /// An accepted connection is delivered as a port of its own, with the event
    /// ``Event/accepted(_:)``: give it a handler with ``setHandler(_:)`` and add it to a loop. If
    /// it is released instead, the connection is closed.
    ///
    /// Tasks need no handler: ``connections`` and ``bytes`` are sequences, and
    /// ``connected(isolation:)`` and ``drained(isolation:)`` wait.
    ///
    /// A port that is in a loop is retained until it is invalidated, fails, or both directions have
    /// ended; then its socket is closed. A port that is in no loop closes its socket when it is
    /// released.
    ///
    /// See *Port-Based Sources* in Apple's guide; CFSocket and NSSocketPort are its counterparts.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class SocketPort: PortSource {
        /// An event, passed to the port's handler.
        ///
        /// > Threading: Any thread.
        public enum Event: Sendable {
            /// The connection was established.
            case connected
            /// The listener has accepted a connection, which has no handler yet.
            case accepted(SocketPort)
            /// Bytes of one read; never empty.
            case received([UInt8])
            /// The peer has ended sending; it may still receive.
            ///
            /// Everything it sent has been received. A reset connection is reported as
            /// ``failed(_:)`` instead.
            case ended
            /// The send queue is as short as the low mark again, after it exceeded the high mark.
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

        /// The port's registration with its loop.
        public let link: PortLink
        let role: Role

        init(
            _ role: Role,
            _ number: CInt,
            events: DescriptorSource.Events,
            order: Int = 0,
            warnsAs kind: StaticString? = nil
        ) {
            self.role = role
            link = PortLink(
                descriptor: number,
                events: events,
                order: order,
                warnsAs: kind,
                receiver: role.receiver
            )
        }

        /// Whether the port is valid: it was not invalidated, has not failed, and at most one
        /// direction has ended.
        ///
        /// It is still valid while the handler is called with the end of the second direction.
        public var isValid: Bool { link.isValid }

        /// Removes the port from its loop and closes its socket.
        ///
        /// Queued bytes are dropped; ``endSending()`` and ``invalidateWhenDrained()`` send them. If
        /// any are dropped, a TCP connection is reset, so that the peer does not mistake partial
        /// data for all of it; a Unix-domain socket cannot signal that. A listener's socket file is
        /// removed, unless it was replaced. After this returns on the loop's thread, the handler is
        /// not called again.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }

        // MARK: The handler

        /// Sets the handler of an accepted connection, which is bound to this thread.
        ///
        /// Call it before adding the port to a loop, which must be this thread's; later it traps.
        ///
        /// > Threading: The thread whose loop is to serve the connection.
        ///
        /// - Parameter handler: Called on the loop's thread with each event.
        public func setHandler(_ handler: @escaping (SocketPort, Event) -> Void) {
            setHandler(HomeBound(handler))
        }

        /// Sets the handler of an accepted connection, which may be called on any thread.
        ///
        /// Call it before adding the port to a loop; later it traps.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter handler: Called on the loop's thread with each event.
        public func setSendableHandler(
            _ handler: @escaping @Sendable (SocketPort, Event) -> Void
        ) {
            setHandler(HomeBound(sendable: handler))
        }

        private func setHandler(_ handler: HomeBound<Body>) {
            require(
                link.loop == nil,
                "A port's handler is set before the port is added to a loop. Remove the port first."
            )
            role.receiver.setHandler(handler)?.release()
        }

        // MARK: Addresses

        /// The local address; `nil` once the port is invalid.
        ///
        /// For a listener at port 0 it has the port that the system chose.
        public var localAddress: SocketAddress? {
            role.receiver.withDescriptor { descriptor in try? descriptor.localAddress() }
                .flatMap { SocketAddress($0) }
        }

        /// The peer's address; `nil` for a listener, and without a connection.
        public var peerAddress: SocketAddress? {
            role.receiver.withDescriptor { descriptor in try? descriptor.peerAddress() }
                .flatMap { SocketAddress($0) }
        }

        /// The credentials of a Unix-domain connection's peer, as reported by the kernel; `nil` for
        /// others.
        public var peerCredentials: PeerCredentials? {
            guard case .stream = role, case .unix = localAddress else { return nil }
            return role.receiver.withDescriptor { descriptor in try? descriptor.peerCredentials() }
        }

        /// Updates the events that the kernel is asked for.
        func updateInterest() {
            let receiver = role.receiver
            link.setEvents { receiver.interest }
        }
    }
}
