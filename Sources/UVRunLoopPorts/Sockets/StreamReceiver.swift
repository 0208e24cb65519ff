import UVRunLoop

/// Serves a connection.
final class StreamReceiver: PortReceiver {
    typealias Events = UVRunLoop.DescriptorSource.Events

    let state: Guarded<StreamState>

    init(_ state: consuming sending StreamState) {
        self.state = Guarded(state)
    }

    func checkHome(is thread: ThreadIdentity) {
        state.withLock { $0.descriptor == nil ? .any : HandlerHome($0.handler) }.check(thread)
    }

    var isReady: Bool { state.withLock { $0.course.isReady } }

    var wanted: Events { state.withLock { $0.wanted } }

    func receive(_ port: any UVRunLoop.PortSource, _ events: Events) -> PortAnswer {
        guard let port = port as? UVRunLoop.SocketPort else { return PortAnswer(wasHandled: false) }
        guard port.isValid || events != .hangUp else { return refuse(port) }
        let now = port.link.loop?.now ?? .now
        let outcome = state.withLock { $0.serve(events, at: now) }
        if outcome.nextLook != nil || outcome.hasAlarm {
            PortAlarm.renew(at: outcome.nextLook, for: port, swap: swap)
        }
        if case .failed = outcome.event { UVRunLoop.invalidate(port) }
        if let event = outcome.event { outcome.handler?.value(port, event) }
        if outcome.isOver { UVRunLoop.invalidate(port) }
        // Not before the call, during which the kernel's word would not count: most handlers answer
        // the peer's end by invalidating the port, and then there is nothing to ask.
        if outcome.asksAnew, port.isValid { port.askAnew() }
        let wasHandled = outcome.event != nil && outcome.handler != nil
        return PortAnswer(wasHandled: wasHandled, hasMore: outcome.hasMore && port.isValid)
    }

    /// The kernel would not watch the socket.
    private func refuse(_ port: UVRunLoop.SocketPort) -> PortAnswer {
        guard let handler = state.withLock({ $0.handler }) else {
            return PortAnswer(wasHandled: false)
        }
        handler.value(port, .failed(UVRunLoop.SocketError(.refusedBySystem)))
        return PortAnswer(wasHandled: true)
    }

    func setHandler(
        _ handler: ThreadBound<UVRunLoop.SocketPort.Body>
    ) -> ThreadBound<UVRunLoop.SocketPort.Body>? {
        state.withLock { $0.descriptor == nil ? handler : exchange(&$0.handler, with: handler) }
    }

    /// Lends the socket; `nil` when it is closed.
    func withDescriptor<Result: Sendable>(
        _ body: (borrowing Descriptor) -> Result?
    ) -> Result? {
        state.withLock { state in
            switch state.descriptor {
            case .some(let descriptor): body(descriptor)
            case .none: nil
            }
        }
    }

    private func swap(_ alarm: PortAlarm?) -> PortAlarm? {
        state.withLock { $0.descriptor == nil ? alarm : exchange(&$0.alarm, with: alarm) }
    }

    func letGo(in loop: UVRunLoop?) {
        let handler = state.withLock { exchange(&$0.handler, with: nil) }
        let alarm = state.withLock { exchange(&$0.alarm, with: nil) }
        state.withLock { $0.queue.removeAll() }
        close()
        alarm?.cancel()
        if let handler { Handler(handler).letGo(with: loop) }
    }

    /// Closes the socket, and makes room for another connection of the listener's.
    private func close() {
        let descriptor = state.withLock { $0.descriptor.take() }
        let membership = state.withLock { $0.membership.take() }
        _ = consume descriptor
        _ = consume membership
    }

    func loopDidEnd(_ port: any UVRunLoop.PortSource) {
        // What belongs to a thread that has ended can never be called again.
        if state.withLock({ $0.handler?.home }) != nil { UVRunLoop.invalidate(port) }
    }
}

/// Where a port's handler may be called.
enum HandlerHome: Sendable {
    case missing
    case any
    case only(ThreadIdentity)

    init(_ handler: ThreadBound<UVRunLoop.SocketPort.Body>?) {
        guard let handler else {
            self = .missing
            return
        }
        self = handler.home.map { .only($0) } ?? .any
    }

    func check(_ thread: ThreadIdentity) {
        switch self {
        case .any: break
        case .missing:
            fail(
                "This connection has no handler. Give it one with setHandler(_:) before you add it."
            )
        case .only(let home):
            require(home == thread, ThreadBound<UVRunLoop.SocketPort.Body>.rule)
        }
    }
}
