import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Both ends of a connection whose bytes tasks take, in the common modes of a loop.
struct SocketPair: Sendable {
    let client: SocketPort
    let server: SocketPort

    init(_ loop: UVRunLoop) async throws {
        let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0))
        defer { listener.invalidate() }
        loop.add(listener, forMode: .common)
        client = try SocketPort(connectingTo: try #require(listener.localAddress))
        loop.add(client, forMode: .common)
        var connections = listener.connections.makeAsyncIterator()
        server = try #require(try await connections.next())
        loop.add(server, forMode: .common)
        try await client.connected()
    }

    func close() {
        client.invalidate()
        server.invalidate()
    }
}

extension SocketPort {
    /// The bytes up to the end, or as many as these.
    func readAll(_ count: Int = .max) async throws -> [UInt8] {
        var all: [UInt8] = []
        var bytes = bytes.makeAsyncIterator()
        while all.count < count, let more = try await bytes.next() { all += more }
        return all
    }

    func nextBytes() async throws -> [UInt8]? {
        var bytes = bytes.makeAsyncIterator()
        return try await bytes.next()
    }
}

/// An actor whose executor is a loop.
actor LoopActor {
    nonisolated let loop: UVRunLoop

    init(_ loop: UVRunLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Sends back what a connection receives, up to its end.
    func echo(_ connection: SocketPort) async throws {
        loop.add(connection, forMode: .common)
        for try await bytes in connection.bytes {
            preconditionIsolated()
            precondition(loop.isOnOwnThread)
            connection.send(bytes)
            try await connection.drained()
        }
        connection.endSending()
    }

    /// Ends a group; its ports are invalid when the call returns or throws.
    func end(
        _ group: UVRunLoop.ConnectionGroup,
        _ listener: SocketPort
    ) async throws -> UVRunLoop.ConnectionGroup.Outcome {
        defer { #expect(group.isEnding && group.count == 0 && !listener.isValid) }
        return try await group.end(limit: nil)
    }
}

/// Waits until a loop sleeps and a number no longer changes.
func awaitIdleness(of loop: UVRunLoop, _ number: () -> Int = { 0 }) {
    var last = -1
    while last != number() {
        last = number()
        letTimePass(.milliseconds(10))
        awaitSleep(of: loop)
    }
}

/// Whether a loop sleeps for a while, rather than being woken again and again.
func isQuiet(_ loop: UVRunLoop) -> Bool {
    let passes = SharedBox(0)
    let observer = UVRunLoop.Observer(
        activities: .beforeTimers,
        sendableHandler: { _, _ in passes.value += 1 }
    )
    loop.add(observer, forMode: .common)
    defer { observer.invalidate() }
    letTimePass(.milliseconds(20))
    return passes.value < 20
}
