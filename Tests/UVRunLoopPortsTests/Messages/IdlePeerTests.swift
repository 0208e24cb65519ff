import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Connected peers that send nothing.
@Suite(.timeLimit(.minutes(15))) struct IdlePeerTests {
    /// Tries several times: on a busy machine the test itself may be idle for too long.
    private func expectOnce(_ holds: () throws -> Bool) throws {
        for _ in 0..<20 where try holds() { return }
        Issue.record("It never held.")
    }

    private static var limits: MessagePort.Limits {
        var limits = MessagePort.Limits()
        limits.idleTimeLimit = .milliseconds(40)
        return limits
    }

    @Test func silentPeersDoNotKeepOthersOutForEver() throws {
        let place = Place()
        var limits = Self.limits
        limits.maximumConnectionsPerUser = 3
        let server = try PortServer(place, limits: limits) { _, message in message.data }
        let silent = try (0..<3).map { _ in try place.rawSocket() }
        for peer in silent { #expect(peer.read() == []) }
        try expectOnce {
            let peer = try place.rawSocket()
            peer.write(Frame.request(1, 0, [1]).head())
            return peer.readFrame() == .reply(1, [1])
        }
        server.stop()
    }

    @Test func aPeerIsSilentFromItsLatestMessageOn() throws {
        let place = Place()
        let server = try PortServer(place, limits: Self.limits) { _, message in message.data }
        try expectOnce {
            let peer = try place.rawSocket()
            peer.write(Frame.request(1, 0, [1]).head())
            guard peer.readFrame() == .reply(1, [1]) else { return false }
            return peer.read() == []
        }
        server.stop()
    }

    @Test func withoutALimitSilentPeersStay() throws {
        let place = Place()
        #expect(MessagePort.Limits().idleTimeLimit == nil)
        let server = try PortServer(place) { _, message in message.data }
        let peer = try place.rawSocket()
        usleep(120_000)
        peer.write(Frame.request(1, 0, [1]).head())
        #expect(peer.readFrame() == .reply(1, [1]))
        server.stop()
    }

    @Test func whoWaitsForAReplyIsNotSilent() throws {
        let place = Place()
        let server = try PortServer(place, limits: Self.limits) { _, message in
            usleep(120_000)
            return message.data
        }
        try expectOnce {
            let peer = try place.rawSocket()
            peer.write(Frame.request(1, 0, [1]).head() + Frame.request(2, 0, [2]).head())
            return peer.readFrame() == .reply(1, [1]) && peer.readFrame() == .reply(2, [2])
        }
        server.stop()
    }

    /// An incomplete message is subject to the frame time limit instead.
    @Test func whoIsInTheMiddleOfAMessageIsNotSilent() throws {
        let place = Place()
        let server = try PortServer(place, limits: Self.limits) { _, message in message.data }
        let bytes = Frame.request(1, 0, [1, 2, 3]).head()
        try expectOnce {
            let peer = try place.rawSocket()
            peer.write(Array(bytes.prefix(25)))
            usleep(120_000)
            peer.write(Array(bytes.dropFirst(25)))
            return peer.readFrame() == .reply(1, [1, 2, 3])
        }
        server.stop()
    }

    /// A port whose loop did not run may read messages only after the limit.
    @Test func aPeerWhoseMessageWasNotReadIsNotSilent() throws {
        let place = Place()
        let listener = try place.rawListener()
        let peer = try place.rawSocket()
        let socket = try listener.accept().socket
        let credentials = try socket.descriptor.peerCredentials()
        var connection = Connection(socket, credentials, Self.limits)
        let late = try #require(connection.deadline)
        let results = [connection.isOverdue(at: late - 1), connection.isOverdue(at: late)]
        #expect(results == [false, true])
        peer.write(Frame.message(1, []).head())
        let isOverdue = connection.isOverdue(at: late)
        #expect(!isOverdue)
        // Its reading counts as activity, whenever that is.
        #expect(connection.deadline == .max)
        guard case .frame = connection.receive() else {
            Issue.record("The message was not received.")
            return
        }
        let next = try #require(connection.deadline)
        let isOverdueAgain = connection.isOverdue(at: next)
        #expect(next < .max && isOverdueAgain)
        withExtendedLifetime(peer) {}
    }
}
