import UVRunLoop

/// Serves a local port: owns its handler, its server and its name.
final class LocalReceiver: TypedPortReceiver {
    typealias Body = (MessagePort.Local, MessagePort.Message) -> [UInt8]?

    /// The most policy decisions in one pass.
    private static let maximumAdmissions = 16

    private let handler: HomeBound<Body>
    private let policy: MessagePort.PeerPolicy?
    private let directory: PortDirectory
    private let claim: NameClaim
    private let server: Guarded<LocalPortServer?>
    let invalidation = Invalidation<MessagePort.Local>()

    init(
        _ server: consuming LocalPortServer,
        claim: NameClaim,
        directory: PortDirectory,
        policy: MessagePort.PeerPolicy?,
        handler: HomeBound<Body>
    ) {
        self.server = Guarded(server)
        self.claim = claim
        self.directory = directory
        self.policy = policy
        self.handler = handler
    }

    var connectionCount: Int { server.withLock { $0?.connectionCount ?? 0 } }

    // MARK: Serving

    func checkHome(is thread: ThreadIdentity) { handler.checkHome(is: thread) }

    func receive(
        port: MessagePort.Local,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult {
        for _ in 0..<Self.maximumAdmissions {
            switch server.withLock({ $0?.step() ?? .nothing }) {
            case .deliver(let frame, let peer, let connection):
                return deliver(frame, peer, connection, port)
            case .admit(let socket, let peer):
                let isPermitted = MessagePort.isPermitted(peer, by: policy)
                server.withLock { $0?.admit(socket, peer, isPermitted: isPermitted) }
            case .nothing:
                return ServeResult(wasHandled: false, hasMore: hasMore)
            }
        }
        return ServeResult(wasHandled: false, hasMore: hasMore)
    }

    /// Input that was read before the port left a loop is not reported by the kernel again.
    var isReady: Bool { hasMore }

    private var hasMore: Bool { server.withLock { $0?.hasMore ?? false } }

    private func deliver(
        _ frame: Frame,
        _ peer: PeerCredentials,
        _ connection: UInt64,
        _ port: MessagePort.Local
    ) -> ServeResult {
        guard let body = handler.current else {
            return ServeResult(wasHandled: false, hasMore: hasMore)
        }
        let message = MessagePort.Message(frame, from: peer, in: directory)
        let data = body(port, message)
        let hasMore = server.withLock { server in
            if frame.kind == .request {
                server?.reply(data, to: frame.number, on: connection)
            }
            return server?.hasMore ?? false
        }
        return ServeResult(wasHandled: true, hasMore: hasMore)
    }

    // MARK: Closing

    func releaseHandler(in loop: UVRunLoop?) {
        guard let last = server.withLock({ $0.take() }) else { return }
        // The name goes first: a client that finds it should find a listener.
        claim.release()
        _ = consume last
        handler.release()
    }

    func loopDidEnd(port: MessagePort.Local) { port.invalidate() }
}

extension MessagePort.Message {
    fileprivate init(_ frame: Frame, from peer: PeerCredentials, in directory: PortDirectory) {
        id = frame.id
        data = frame.data ?? []
        sender = peer
        isReplyExpected = frame.kind == .request
        let name = frame.replyName
        replyPortName = name.isEmpty ? nil : String(validating: name, as: UTF8.self)
        self.directory = directory
    }
}
