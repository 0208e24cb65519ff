import UVRunLoop

/// Serves a connection.
final class StreamReceiver: SocketReceiver {
    typealias Events = UVRunLoop.DescriptorSource.Events

    let state: Guarded<StreamState>

    init(_ state: consuming sending StreamState) {
        self.state = Guarded(state)
    }

    func withOwned<Result: Sendable>(_ body: (inout SocketBelongings) -> Result) -> Result {
        state.withLock { body(&$0.owned) }
    }

    var isReady: Bool { state.withLock { $0.isReady } }

    var isFinishing: Bool { state.withLock { $0.isFinishing } }

    var wanted: Events { state.withLock { $0.wanted } }

    func receive(port: UVRunLoop.SocketPort, _ events: Events) -> ServeResult {
        guard port.isValid || events != .hangUp else { return refuse(port) }
        let now = port.link.loop?.now ?? .now
        let outcome = state.withLock { $0.serve(events, at: now) }
        if outcome.nextLook != nil || outcome.hasAlarm {
            renewAlarm(at: outcome.nextLook, for: port)
        }
        // An invalid port has no handler any more.
        let body = outcome.event == nil ? nil : outcome.handler?.current
        if case .failed = outcome.event { UVRunLoop.invalidate(port) }
        if let event = outcome.event { body?(port, event) }
        if outcome.isOver { UVRunLoop.invalidate(port) }
        // Not before the call, during which the kernel's word would not count: most handlers answer
        // the peer's end by invalidating the port, and then there is nothing to ask.
        if outcome.asksAnew, port.isValid { port.askAnew() }
        let wasHandled = body != nil
        return ServeResult(wasHandled: wasHandled, hasMore: outcome.hasMore && port.isValid)
    }

    /// The kernel would not watch the socket.
    private func refuse(_ port: UVRunLoop.SocketPort) -> ServeResult {
        guard let handler = withOwned({ $0.handler }) else {
            return ServeResult(wasHandled: false)
        }
        handler.current?(port, .failed(UVRunLoop.SocketError(.refusedBySystem)))
        return ServeResult(wasHandled: true)
    }

    /// Makes room for another connection of the listener's, too.
    func close() {
        let descriptor = state.withLock { $0.takeDescriptor() }
        // Nothing is queued any more.
        state.withLock { $0.queue.removeAll() }
        let membership = state.withLock { $0.membership.take() }
        _ = consume descriptor
        _ = consume membership
    }
}
