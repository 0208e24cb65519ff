import UVRunLoop
import UVRunLoopPorts

extension UVRunLoop {
    /// Finds the addresses of a host and a service, and delivers them on the loop's thread.
    ///
    /// A thread of libuv's pool asks the system as `getaddrinfo` does: `/etc/hosts`, DNS and
    /// whatever else is configured. The lookup begins when the source is created; see ``Offload``
    /// for the pool. The result is delivered once, in the modes to which the source was added;
    /// until then it waits. The source is valid during that call and invalid afterwards, and when
    /// the thread of its loop ends.
    ///
    /// See *Input Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Resolver: PortSource {
        /// The outcome of a lookup: at least one address, in the system's order of preference.
        public typealias Outcome = Result<[SocketAddress], SystemError>

        /// A family of addresses.
        public enum Family: Hashable, Sendable {
            /// IPv4 addresses.
            case ipv4
            /// IPv6 addresses.
            case ipv6
        }

        /// The kind of socket that an address is for: it decides on the port of a service's name.
        public enum Transport: Hashable, Sendable {
            /// TCP.
            case stream
            /// UDP.
            case datagram
        }

        /// The link between the source and its loop.
        public let link: PortLink

        /// Begins a lookup for the calling thread's loop.
        ///
        /// Add the source to the loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``.
        ///
        /// > Threading: The thread whose loop serves the source. Traps if the loop runs in virtual
        /// > time.
        ///
        /// - Parameters:
        ///   - host: A name such as `localhost`, or a numeric address. Names of other scripts are
        ///     converted to their ASCII form.
        ///   - service: The name of a service, or the number of a port; `nil` for port 0.
        ///   - family: The family of the addresses; `nil` for all.
        ///   - transport: What the addresses are for.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called once, on the loop's thread, with the addresses or the error.
        /// - Throws: ``SystemError`` if a text cannot be a name, or if the loop has ended.
        @available(*, noasync, message: "Use resolve(host:service:), which waits for the result.")
        public convenience init(
            host: String,
            service: String? = nil,
            family: Family? = nil,
            transport: Transport = .stream,
            order: Int = 0,
            handler: @escaping (Resolver, Outcome) -> Void
        ) throws(SystemError) {
            let name = ServiceName(
                host: host,
                service: service,
                family: family,
                transport: transport
            )
            try self.init(name, order, handler)
        }

        init(
            _ name: ServiceName,
            _ order: Int,
            _ handler: @escaping (Resolver, Outcome) -> Void
        ) throws(SystemError) {
            let inbox = EventInbox<Outcome>()
            let request = try AddressRequest(name) { inbox.append($0) }
            let receiver = EventReceiver<Resolver, Outcome>(
                inbox,
                [request],
                handler,
                isLast: { _ in true }
            )
            link = receiver.makeLink(order: order, warnsAs: "a resolver")
        }

        /// Whether the call of the handler is still to come or in progress.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently.
        ///
        /// A lookup that has not begun is withdrawn; the result of one in progress is dropped.
        /// Called on the loop's thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(self) }

        deinit { link.receiver.releaseHandler() }
    }

    /// Finds the addresses of a host and a service; see ``Resolver``.
    ///
    /// The result arrives in the common modes, which it keeps from being empty.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - host: A name such as `localhost`, or a numeric address.
    ///   - service: The name of a service, or the number of a port; `nil` for port 0.
    ///   - family: The family of the addresses; `nil` for all.
    ///   - transport: What the addresses are for.
    ///   - isolation: The caller's actor.
    /// - Returns: At least one address, in the system's order of preference.
    /// - Throws: ``SystemError`` if there is no address; `CancellationError` if the task is
    ///   cancelled; ``PerformError/threadEnded`` if the loop's thread ends first or has ended.
    public func resolve(
        host: String,
        service: String? = nil,
        family: Resolver.Family? = nil,
        transport: Resolver.Transport = .stream,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> [SocketAddress] {
        let name = ServiceName(host: host, service: service, family: family, transport: transport)
        return try await onlyEvent(isolation: isolation) { (wait: TaskWait<[SocketAddress]>) in
            let end = WaitEnd(wait)
            return try Resolver(name, 0) { end.settle($1.mapError { $0 }) }
        }
    }
}
