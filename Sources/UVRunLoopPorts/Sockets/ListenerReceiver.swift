import UVRunLoop

/// Serves a listener.
final class ListenerReceiver: SocketReceiver {
    typealias Events = UVRunLoop.DescriptorSource.Events
    typealias SocketError = UVRunLoop.SocketError

    struct State: ~Copyable, Sendable {
        var owned: SocketBelongings
        var file: SocketFile?
        var pacing = AcceptPacing()

        init(_ descriptor: consuming Descriptor, _ file: consuming SocketFile?) {
            owned = SocketBelongings(descriptor)
            self.file = consume file
        }
    }

    /// What became of one attempt to accept.
    private enum Accepted: ~Copyable {
        case connection(Descriptor, Membership)
        /// The client has gone away meanwhile.
        case nobody
        case pause
        case end
        case failure(SocketError)
    }

    let state: Guarded<State>
    let tally: Tally

    init(_ state: consuming sending State, limit: Int?) {
        self.state = Guarded(state)
        tally = Tally(limit: limit)
    }

    func withOwned<Result: Sendable>(_ body: (inout SocketBelongings) -> Result) -> Result {
        state.withLock { body(&$0.owned) }
    }

    /// A pause goes on in the loop that the listener is added to.
    var isReady: Bool { state.withLock { !$0.pacing.isAccepting } }

    var wanted: Events { state.withLock { $0.pacing.isAccepting ? .readable : [] } }

    func receive(port: UVRunLoop.SocketPort, _ events: Events) -> ServeResult {
        if !port.isValid || events.contains(.hangUp) {
            return end(port, SocketError(.refusedBySystem))
        }
        let wasPaused = state.withLock { state in
            defer { state.pacing.resume() }
            return !state.pacing.isAccepting
        }
        var answer = ServeResult(wasHandled: false)
        switch acceptOne() {
        case .connection(let descriptor, let membership):
            let connection = UVRunLoop.SocketPort(accepted: descriptor, membership)
            // Those behind it are events of their own, of which the kernel tells.
            answer.wasHandled = call(port, .accepted(connection))
        case .nobody: break
        case .end: break
        case .pause:
            pause(port)
            return answer
        case .failure(let error): return end(port, error)
        }
        if wasPaused {
            port.askAnew()
            renewAlarm(at: nil, for: port)
        }
        return answer
    }

    private func acceptOne() -> Accepted {
        guard let membership = tally.join() else {
            state.withLock { $0.pacing.didFillUp() }
            return .pause
        }
        let now = UVRunLoop.Instant.now
        do {
            let descriptor = try state.withLock { state throws(UVError) in
                try state.owned.descriptor?.accept()
            }
            guard let descriptor else { return .end }
            return .connection(descriptor, membership)
        } catch {
            switch error {
            case .connectionAborted: return .nobody
            case .badDescriptor, .invalidArgument: return .failure(SocketError(system: error))
            default: break
            }
            // A shortage, or a refusal that may be lasting and leaves the client in the line.
            state.withLock { $0.pacing.didRunShort(at: now) }
            return .pause
        }
    }

    /// Stops accepting, until a connection closes or some time has passed.
    private func pause(_ port: UVRunLoop.SocketPort) {
        tally.awaitRoom()
        port.askAnew()
        renewAlarm(at: state.withLock { $0.pacing.retry }, for: port)
    }

    // MARK: The end

    private func end(_ port: UVRunLoop.SocketPort, _ error: SocketError) -> ServeResult {
        // An invalid port has no handler any more.
        let body = withOwned { $0.handler }?.current
        UVRunLoop.invalidate(port)
        guard let body else { return ServeResult(wasHandled: false) }
        body(port, .failed(error))
        return ServeResult(wasHandled: true)
    }

    func close() {
        let file = state.withLock { $0.file.take() }
        let descriptor = state.withLock { $0.owned.descriptor.take() }
        // The file first: nobody is to find it while nobody listens.
        _ = consume file
        _ = consume descriptor
    }

    private func call(_ port: UVRunLoop.SocketPort, _ event: UVRunLoop.SocketPort.Event) -> Bool {
        guard let handler = withOwned({ $0.handler }) else { return false }
        handler.current?(port, event)
        return true
    }
}
