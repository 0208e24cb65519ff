import UVRunLoop

/// Serves a local port: owns its handler, its server and its name.
final class LocalReceiver: PortReceiver {
    typealias Body = (MessagePort.Local, MessagePort.Message) -> [UInt8]?

    /// The most policy decisions in one pass.
    private static let maximumAdmissions = 16

    private struct State: ~Copyable, Sendable {
        var server: LocalPortServer?
        /// The requests, for a task that takes them instead of the handler.
        var intake: TaskIntake<MessagePort.Request, Never>?

        var hasMore: Bool {
            switch server {
            case .some(let server): server.hasMore
            case .none: false
            }
        }
    }

    /// `nil` for a port whose requests are taken by a task from the beginning.
    private let handler: HomeBound<Body>?
    private let policy: HomeBound<MessagePort.PeerPolicy>?
    private let directory: PortDirectory
    let claim: NameClaim
    private let state: Guarded<State>
    /// A forked child inherits the object; the connections stay its parent's.
    private let process = OwnerProcess()
    let invalidation = Invalidation<MessagePort.Local>()

    init(
        _ server: consuming LocalPortServer,
        claim: NameClaim,
        directory: PortDirectory,
        policy: MessagePort.PeerPolicy?,
        handler: HomeBound<Body>?
    ) {
        state = Guarded(State(server: consume server, intake: handler == nil ? TaskIntake() : nil))
        self.claim = claim
        self.directory = directory
        self.policy = policy.map { HomeBound(sendable: $0) }
        self.handler = handler
    }

    var connectionCount: Int { state.withLock { $0.server?.connectionCount ?? 0 } }

    // MARK: Serving

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        handler?.home.check(is: thread, caller)
    }

    func receive(
        port: MessagePort.Local,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        for _ in 0..<Self.maximumAdmissions {
            switch state.withLock({ $0.server?.step() ?? .nothing }) {
            case .deliver(let frame, let peer, let connection):
                return deliver(frame, peer, connection, port)
            case .admit(let socket, let peer):
                let isPermitted = OwnerProcess.callWithoutFork("A port's policy") {
                    MessagePort.isPermitted(peer, by: policy?.current)
                }
                state.withLock { $0.server?.admit(socket, peer, isPermitted: isPermitted) }
            case .nothing:
                return ServeResult(wasHandled: false, hasMore: hasMore)
            }
        }
        return ServeResult(wasHandled: false, hasMore: hasMore)
    }

    /// Input that was read before the port left a loop is not reported by the kernel again.
    var isReady: Bool { hasMore }

    private var hasMore: Bool { state.withLock { $0.hasMore } }

    private func deliver(
        _ frame: Frame,
        _ peer: PeerCredentials,
        _ connection: UInt64,
        _ port: MessagePort.Local
    ) -> ServeResult {
        let message = MessagePort.Message(frame, from: peer, in: directory)
        if state.withLock({ $0.intake != nil }) {
            let ticket = MessagePort.ReplyTicket(number: frame.number, connection: connection)
            return giveToTask(MessagePort.Request(message, ticket, self, port.link))
        }
        guard let body = handler?.current else {
            return ServeResult(wasHandled: false, hasMore: hasMore)
        }
        let data = OwnerProcess.callWithoutFork("A port's handler") { body(port, message) }
        let hasMore = state.withLock { state in
            if frame.kind == .request {
                state.server?.reply(data, to: frame.number, on: connection)
            }
            return state.hasMore
        }
        return ServeResult(wasHandled: true, hasMore: hasMore)
    }

    // MARK: A task

    /// Has a task take the requests from now on, instead of the handler.
    func beginTaking() {
        state.withLock { state in
            guard state.intake == nil else { return }
            state.intake = TaskIntake()
            // Nobody waits yet.
            if state.server == nil { _ = state.intake?.finish() }
        }
    }

    private func giveToTask(_ request: MessagePort.Request) -> ServeResult {
        let (resumption, hasMore) = state.withLock { state in
            if request.message.isReplyExpected {
                state.server?.awaitReply(on: request.ticket.connection)
            }
            let resumption = state.intake?.offer(request)
            state.server?.setHeld(state.intake?.isFull ?? false)
            return (resumption, state.hasMore)
        }
        resumption?.perform()
        return ServeResult(wasHandled: resumption != nil, hasMore: hasMore)
    }

    func reply(_ data: [UInt8]?, to ticket: MessagePort.ReplyTicket, _ link: UVRunLoop.PortLink) {
        let hasMore = state.withLock { state in
            state.server?.reply(data, to: ticket.number, on: ticket.connection)
            return state.hasMore
        }
        if hasMore { link.announce() }
    }

    /// Waits for the next request; returns `nil` at the end of the port, or if the task was
    /// cancelled.
    func next(
        of link: UVRunLoop.PortLink,
        isolation: isolated (any Actor)?
    ) async -> MessagePort.Request? {
        if Task.isCancelled { return nil }
        let (taken, hasMore) = state.withLock { state in
            let taken = state.intake?.take()
            state.server?.setHeld(false)
            return (taken, state.hasMore)
        }
        if hasMore { link.announce() }
        if let taken { return taken.get() }
        return await awaitRequest(of: link, isolation: isolation)
    }

    /// Waits for a request, with none there before.
    func awaitRequest(
        of link: UVRunLoop.PortLink,
        isolation: isolated (any Actor)?
    ) async -> MessagePort.Request? {
        let outcome: TaskIntake<MessagePort.Request, Never>.Outcome = await UVRunLoop.suspend(
            on: link.loop,
            isolation: isolation
        ) { waiter in
            let (resumption, hasMore) = state.withLock { state in
                let resumption = state.intake?.begin(waiter)
                // A task that was cancelled takes nothing.
                state.server?.setHeld(state.intake?.isFull ?? false)
                return (resumption, state.hasMore)
            }
            if hasMore { link.announce() }
            resumption?.perform()
        } onCancel: { wait in
            state.withLock { $0.intake?.cancel(wait) }?.perform()
        }
        return outcome.get()
    }

    private func endIntake() {
        let ended = state.withLock { $0.intake?.endAtOnce() }
        ended?.resumption?.perform()
        withExtendedLifetime(ended) {}
    }

    // MARK: Closing

    /// The loop cannot serve the port: its name is released, and its owner is notified.
    func receive(port: MessagePort.Local, refusal: UVError) -> ServeResult {
        port.invalidate()
        return ServeResult(wasHandled: true)
    }

    func releaseHandler() {
        // The name goes first: a client that finds it should find a listener. Every caller waits
        // until it is released.
        claim.release()
        guard let last = state.withLock({ $0.server.take() }) else { return }
        if process.isCurrent { last.shutDown() }
        _ = consume last
        handler?.release()
        policy?.release()
        endIntake()
    }

    func loopDidEnd(port: MessagePort.Local) { port.invalidate() }
}

extension MessagePort.Message {
    fileprivate init(_ frame: Frame, from peer: PeerCredentials, in directory: PortDirectory) {
        id = frame.id
        data = frame.data ?? []
        sender = peer
        isReplyExpected = frame.kind == .request
        // The parser has validated it.
        let name = frame.replyName
        replyPortName = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        self.directory = directory
    }
}
