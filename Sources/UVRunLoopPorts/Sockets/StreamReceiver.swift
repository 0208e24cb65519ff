import Synchronization
import UVRunLoop

/// Serves a connection.
final class StreamReceiver: SocketReceiver {
    typealias Events = UVRunLoop.DescriptorEvents

    let state: Guarded<StreamState>
    /// Whether an event was taken from the state, and its handler not yet.
    ///
    /// Another thread may end the connection meanwhile. It must not become invalid by that: its
    /// handler would be released, and never get the event. Set under the state's lock.
    private let holdsEvent = Atomic<Bool>(false)

    init(_ state: consuming sending StreamState) {
        self.state = Guarded(state)
    }

    func withResources<Result: Sendable>(_ body: (inout SocketResources) -> Result) -> Result {
        state.withLock { body(&$0.resources) }
    }

    var isReady: Bool { state.withLock { $0.isReady } }

    var isFinishing: Bool { state.withLock { $0.isFinishing } }

    var interest: Events { state.withLock { $0.interest } }

    func receive(port: UVRunLoop.SocketPort, _ events: Events) -> ServeResult {
        // Not the clock of the port's loop: it may be in another one by now.
        let now = UVRunLoop.currentInstant
        let outcome = state.withLock { state in
            let outcome = state.serve(events, at: now)
            if outcome.event != nil { holdsEvent.store(true, ordering: .relaxed) }
            return outcome
        }
        if outcome.nextDate != nil || outcome.hasAlarm {
            renewAlarm(at: outcome.nextDate, for: port)
        }
        // An invalid port has released its handler.
        let body = outcome.event == nil ? nil : outcome.handler?.current
        if outcome.event != nil { holdsEvent.store(false, ordering: .releasing) }
        if case .failed = outcome.event { UVRunLoop.invalidate(port) }
        if let event = outcome.event { body?(port, event) }
        if outcome.isOver { UVRunLoop.invalidate(port) }
        let wasTaken = outcome.resumptions.perform() || (outcome.isTaken && outcome.isOver)
        // Done after the call, because most handlers respond to the peer's end by invalidating the
        // port, which makes it unnecessary.
        if outcome.interestChanged, port.isValid { port.updateInterest() }
        let wasHandled = body != nil || wasTaken
        return ServeResult(wasHandled: wasHandled, hasMore: outcome.hasMore && port.isValid)
    }

    /// Whether a connection that is over may become invalid now; if not, it does when it is served
    /// again.
    var mayBecomeInvalid: Bool { !holdsEvent.load(ordering: .acquiring) }

    func receive(port: UVRunLoop.SocketPort, refusal: UVError) -> ServeResult {
        let error = UVRunLoop.SocketError(system: refusal)
        if let resumptions = state.withLock({ $0.failTasks(error) }) {
            UVRunLoop.invalidate(port)
            _ = resumptions.perform()
            return ServeResult(wasHandled: true)
        }
        guard let handler = withResources({ $0.handler }) else {
            return ServeResult(wasHandled: false)
        }
        handler.current?(port, .failed(error))
        return ServeResult(wasHandled: true)
    }

    /// Also releases the listener's permit.
    func close() {
        let descriptor = state.withLock { $0.takeDescriptor() }
        // The queue was dropped; release its memory.
        state.withLock { $0.queue.removeAll() }
        let permit = state.withLock { $0.permit.take() }
        _ = consume descriptor
        _ = consume permit
        _ = state.withLock { $0.endTasks() }.perform()
        let (group, failure) = state.withLock { ($0.takeGroup(), $0.lifecycle.failure) }
        group?.connectionDidClose(self, failure)
    }

    func failWaits(_ error: any Error) {
        _ = state.withLock { StreamTasks.Resumptions(waits: $0.takeWaits(failing: error)) }
            .perform()
    }
}
