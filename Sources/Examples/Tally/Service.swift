import UVRunLoop
import UVRunLoopPorts

/// Keeps the totals for its clients, on the thread of one loop.
actor Service {
    struct Limits: Sendable {
        /// How long a client may send nothing, or leave its answers unread.
        var silence = Duration.seconds(60)
        /// How long clients are still served when the service ends, for requests on their way.
        var grace = Duration.milliseconds(100)
        /// How long a connection may take to end.
        var closing = Duration.seconds(1)
        var lineLength = 200
        var clients = 1000
        var names = 100_000
    }

    /// A connection, and the part of a request that it has received.
    private final class Session {
        let connection: UVRunLoop.SocketPort
        var lines: LineBuffer

        init(_ connection: UVRunLoop.SocketPort, _ limits: Limits) {
            self.connection = connection
            lines = LineBuffer(limit: limits.lineLength)
        }
    }

    nonisolated let loop: UVRunLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let listener: UVRunLoop.SocketPort
    private let limits: Limits
    private var sessions: [ObjectIdentifier: Session] = [:]
    private var isClosing = false
    private(set) var ledger: Ledger

    init(
        on loop: UVRunLoop,
        at address: UVRunLoop.SocketAddress,
        _ limits: Limits = Limits()
    ) throws(UVRunLoop.SocketError) {
        var options = UVRunLoop.SocketPort.ListenOptions()
        options.maximumConnections = limits.clients
        options.replacesStaleSocket = true
        listener = try UVRunLoop.SocketPort(listeningAt: address, options: options)
        ledger = Ledger(maximumNames: limits.names)
        self.loop = loop
        self.limits = limits
    }

    nonisolated var address: UVRunLoop.SocketAddress? { listener.localAddress }

    /// Serves clients, each in a task of its own; returns when the service and they have ended.
    func run() async throws {
        loop.add(listener, forMode: .common)
        try await withThrowingDiscardingTaskGroup { group in
            for try await connection in listener.connections {
                group.addTask { await self.serve(connection) }
            }
        }
    }

    /// Accepts no more clients, and closes each one that has no request under way.
    func end() async {
        listener.invalidate()
        try? await loop.sleep(for: limits.grace)
        isClosing = true
        for session in sessions.values where !session.lines.isWithinLine {
            session.connection.endSending()
        }
        try? await loop.sleep(for: limits.closing)
        for session in sessions.values { session.connection.invalidate() }
    }

    private func serve(_ connection: UVRunLoop.SocketPort) async {
        let session = Session(connection, limits)
        sessions[ObjectIdentifier(connection)] = session
        defer { sessions[ObjectIdentifier(connection)] = nil }
        loop.add(connection, forMode: .common)
        do {
            try await answerRequests(in: session)
        } catch is LimitPassed {
            connection.send("error: silent for too long\n".utf8)
        } catch is LineBuffer.TooLong {
            connection.send("error: a line may have \(limits.lineLength) bytes\n".utf8)
        } catch {
            // The client is gone.
        }
        await close(connection)
    }

    /// Returns when the client has ended, or is to end.
    private func answerRequests(in session: Session) async throws {
        // A request that can get no answer is not performed.
        while mayAsk(session), let bytes = try await nextBytes(in: session), mayAsk(session) {
            session.lines.append(bytes)
            while let line = try session.lines.next() {
                let request = Request(line)
                session.connection.send("\(ledger.perform(request))\n".utf8)
                if request == .quit { return }
            }
        }
    }

    private func mayAsk(_ session: Session) -> Bool { !isClosing || session.lines.isWithinLine }

    private func nextBytes(in session: Session) async throws -> [UInt8]? {
        try await session.connection.nextBytes(in: loop, within: limits.silence)
    }

    /// Ends a connection when its client has: closing it with unread input would reset it, and the
    /// client could lose answers.
    private func close(_ connection: UVRunLoop.SocketPort) async {
        connection.endSending()
        try? await loop.withLimit(limits.closing) {
            for try await _ in connection.bytes {}
        }
        connection.invalidate()
    }
}
