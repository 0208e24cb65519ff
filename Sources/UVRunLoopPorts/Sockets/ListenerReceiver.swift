import UVRunLoop

/// Serves a listening socket.
final class ListenerReceiver: SocketReceiver {
    typealias Events = UVRunLoop.DescriptorEvents
    typealias SocketError = UVRunLoop.SocketError

    struct State: ~Copyable, Sendable {
        var resources: SocketResources
        var file: SocketFile?
        var pacing = AcceptPacing()
        /// The connections, for a task that takes them instead of the handler.
        var intake: TaskIntake<UVRunLoop.SocketPort, SocketError>?

        init(_ descriptor: consuming Descriptor, _ file: consuming SocketFile?) {
            resources = SocketResources(descriptor)
            self.file = consume file
        }

        /// Nobody has taken the latest connection.
        var isHeld: Bool { intake?.isFull ?? false }
    }

    /// The result of one attempt to accept.
    private enum Accepted: ~Copyable {
        case connection(Descriptor, ConnectionPermit)
        /// The client has disconnected in the meantime.
        case aborted
        case pause
        case nonePending
        case failure(SocketError)
    }

    let state: Guarded<State>
    let limiter: ConnectionLimiter

    init(_ state: consuming sending State, limit: Int?) {
        self.state = Guarded(state)
        limiter = ConnectionLimiter(limit: limit)
    }

    func withResources<Result: Sendable>(_ body: (inout SocketResources) -> Result) -> Result {
        state.withLock { body(&$0.resources) }
    }

    /// A pause continues in the loop that the listener is added to.
    var isReady: Bool { state.withLock { !$0.pacing.isAccepting } }

    var interest: Events {
        state.withLock { $0.pacing.isAccepting && !$0.isHeld ? .readable : [] }
    }

    func receive(port: UVRunLoop.SocketPort, _ events: Events) -> ServeResult {
        if events.contains(.hangUp) { return end(port, SocketError(.refusedBySystem)) }
        let (wasPaused, isHeld) = state.withLock { state in
            defer { state.pacing.resume() }
            return (!state.pacing.isAccepting, state.isHeld)
        }
        var result = ServeResult(wasHandled: false)
        switch isHeld ? .nonePending : acceptOne() {
        case .connection(let descriptor, let permit):
            let connection = UVRunLoop.SocketPort(accepted: descriptor, permit)
            // Further pending connections are events of their own, which the kernel reports.
            result.wasHandled =
                giveToTask(connection, of: port) ?? call(port, .accepted(connection))
        case .aborted: break
        case .nonePending: break
        case .pause:
            pause(port)
            return result
        case .failure(let error): return end(port, error)
        }
        if wasPaused {
            port.updateInterest()
            renewAlarm(at: nil, for: port)
        }
        return result
    }

    func receive(port: UVRunLoop.SocketPort, refusal: UVError) -> ServeResult {
        end(port, SocketError(system: refusal))
    }

    private func acceptOne() -> Accepted {
        guard let permit = limiter.acquire() else {
            state.withLock { $0.pacing.didFillUp() }
            return .pause
        }
        do {
            let descriptor = try state.withLock { state throws(UVError) in
                try state.resources.descriptor?.accept()
            }
            guard let descriptor else { return .nonePending }
            return .connection(descriptor, permit)
        } catch {
            switch error {
            case .connectionAborted: return .aborted
            case .badDescriptor, .invalidArgument: return .failure(SocketError(system: error))
            default: break
            }
            // A shortage, or another error that may persist and leaves the client in the backlog.
            state.withLock { $0.pacing.didRunShort(at: UVRunLoop.currentInstant) }
            return .pause
        }
    }

    /// Stops accepting until a connection closes or the pause is over.
    private func pause(_ port: UVRunLoop.SocketPort) {
        limiter.announceNextRelease()
        port.updateInterest()
        renewAlarm(at: state.withLock { $0.pacing.retry }, for: port)
    }

    // MARK: Closing

    private func end(_ port: UVRunLoop.SocketPort, _ error: SocketError) -> ServeResult {
        // Taken first: an invalid port has released its handler.
        let body = withResources { $0.isTaken ? nil : $0.handler }?.current
        let resumption = state.withLock { $0.intake?.finish(throwing: error) }
        UVRunLoop.invalidate(port)
        resumption?.perform()
        guard let body else { return ServeResult(wasHandled: false) }
        body(port, .failed(error))
        return ServeResult(wasHandled: true)
    }

    func failWaits(_ error: any Error) {}

    func close() {
        let file = state.withLock { $0.file.take() }
        let descriptor = state.withLock { $0.resources.descriptor.take() }
        // The file goes first: a client that finds it should find a listener.
        _ = consume file
        _ = consume descriptor
        endIntake()
    }

    private func call(_ port: UVRunLoop.SocketPort, _ event: UVRunLoop.SocketPort.Event) -> Bool {
        guard let handler = withResources({ $0.handler }) else { return false }
        handler.current?(port, event)
        return true
    }
}
