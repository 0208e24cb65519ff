import UVRunLoop

/// Serves a listener.
final class ListenerReceiver: PortReceiver {
    typealias Events = UVRunLoop.DescriptorSource.Events
    typealias SocketError = UVRunLoop.SocketError

    struct State: ~Copyable, Sendable {
        var handler: ThreadBound<UVRunLoop.SocketPort.Body>?
        var alarm: PortAlarm?
        var descriptor: Descriptor?
        var file: SocketFile?
        var pacing = AcceptPacing()

        init(_ descriptor: consuming Descriptor, _ file: consuming SocketFile?) {
            self.descriptor = consume descriptor
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

    func checkHome(is thread: ThreadIdentity) {
        state.withLock { $0.descriptor == nil ? .any : HandlerHome($0.handler) }.check(thread)
    }

    /// A pause goes on in the loop that the listener is added to.
    var isReady: Bool { state.withLock { !$0.pacing.isAccepting } }

    var wanted: Events { state.withLock { $0.pacing.isAccepting ? .readable : [] } }

    func receive(_ port: any UVRunLoop.PortSource, _ events: Events) -> PortAnswer {
        guard let port = port as? UVRunLoop.SocketPort else { return PortAnswer(wasHandled: false) }
        if !port.isValid || events.contains(.hangUp) {
            return end(port, SocketError(.refusedBySystem))
        }
        let wasPaused = state.withLock { state in
            defer { state.pacing.resume() }
            return !state.pacing.isAccepting
        }
        var answer = PortAnswer(wasHandled: false)
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
            PortAlarm.renew(at: nil, for: port, swap: swap)
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
                try state.descriptor?.accept()
            }
            guard let descriptor else { return .end }
            return .connection(descriptor, membership)
        } catch {
            guard error.isShortage else { return Self.judge(error) }
            state.withLock { $0.pacing.didRunShort(at: now) }
            return .pause
        }
    }

    /// Tells what befell one client from what befell the listener.
    private static func judge(_ error: UVError) -> Accepted {
        switch error {
        case .badDescriptor, .invalidArgument: .failure(SocketError(system: error))
        default: .nobody
        }
    }

    /// Stops accepting, until a connection closes or some time has passed.
    private func pause(_ port: UVRunLoop.SocketPort) {
        tally.awaitRoom()
        port.askAnew()
        PortAlarm.renew(at: state.withLock { $0.pacing.retry }, for: port, swap: swap)
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

    // MARK: The end

    private func end(_ port: UVRunLoop.SocketPort, _ error: SocketError) -> PortAnswer {
        let handler = state.withLock { $0.handler }
        UVRunLoop.invalidate(port)
        guard let handler else { return PortAnswer(wasHandled: false) }
        handler.value(port, .failed(error))
        return PortAnswer(wasHandled: true)
    }

    func letGo(in loop: UVRunLoop?) {
        let handler = state.withLock { exchange(&$0.handler, with: nil) }
        let alarm = state.withLock { exchange(&$0.alarm, with: nil) }
        let file = state.withLock { $0.file.take() }
        let descriptor = state.withLock { $0.descriptor.take() }
        // The file first: nobody is to find it while nobody listens.
        _ = consume file
        _ = consume descriptor
        alarm?.cancel()
        if let handler { Handler(handler).letGo(with: loop) }
    }

    func loopDidEnd(_ port: any UVRunLoop.PortSource) {
        // What belongs to a thread that has ended can never be called again.
        if state.withLock({ $0.handler?.home }) != nil { UVRunLoop.invalidate(port) }
    }

    private func call(_ port: UVRunLoop.SocketPort, _ event: UVRunLoop.SocketPort.Event) -> Bool {
        guard let handler = state.withLock({ $0.handler }) else { return false }
        handler.value(port, event)
        return true
    }
}
