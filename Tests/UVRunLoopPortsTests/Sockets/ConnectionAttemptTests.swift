import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The limits of connecting, without a socket.
@Suite(.timeLimit(.minutes(15))) struct ConnectionAttemptTests {
    @Test func aFullBacklogIsTriedForAsLongAsTheKernelTriesAConnection() throws {
        let start = UVRunLoop.Instant.now
        var attempt = ConnectionAttempt(try SocketAddress.ipv4Loopback(port: 1).raw, until: nil)
        attempt.didFindBacklogFull(at: start)
        attempt.didFindBacklogFull(at: start + .seconds(100))
        #expect(!attempt.isOverdue(at: start + .seconds(126)))
        #expect(attempt.isOverdue(at: start + .seconds(127)))
    }

    @Test func theLimitOfAnAttemptComesFirst() throws {
        let start = UVRunLoop.Instant.now
        let raw = try SocketAddress.ipv4Loopback(port: 1).raw
        var attempt = ConnectionAttempt(raw, until: start + .seconds(2))
        attempt.didFindBacklogFull(at: start + .seconds(1))
        #expect(attempt.isOverdue(at: start + .seconds(2)))
    }
}
