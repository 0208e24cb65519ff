import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Connections that a process and its forked child have; each test runs in its own process.
@Suite(.timeLimit(.minutes(15))) struct ForkedSocketTests {
    @Test func aChangeOfAParentsSocketPortTrapsInTheChild() async {
        await #expect(processExitsWith: .success) { try changeInChildren() }
    }

    @Test func aConnectionInNoLoopCanBeServedByTheChild() async {
        await #expect(processExitsWith: .success) { try serveInChild() }
    }

    @Test func aConnectionThatTheChildReleasesLosesNothing() async {
        await #expect(processExitsWith: .success) { try releaseInChild() }
    }

    /// The parent has bytes to send, and the end after them.
    @Test func aConnectionThatTheChildReadsIsEndedByTheParent() async {
        await #expect(processExitsWith: .success) { try readInChild() }
    }

    @Test func aGroupsCompletionThatReturnsInTheChildIsTheLastCallThere() async {
        await #expect(processExitsWith: .success) {
            onAnotherThread {
                let (loop, fork, count) = (UVRunLoop.current, FirstFork(), Box(0))
                let group = UVRunLoop.ConnectionGroup(on: loop)
                for _ in 0..<2 {
                    group.end(limit: nil) { _ in
                        fork.callHandler()
                        count.value += 1
                    }
                }
                loop.run(untilTrue: { count.value == 2 })
                precondition(fork.hasTrapped)
            }
        }
    }
}

/// A connection that was accepted, as by a server that forks a process for each; it is in no loop.
private final class AcceptedConnection {
    let peer: Peer
    private let listener: SocketPort
    private let accepted = Box<SocketPort?>(nil)
    private let loop = UVRunLoop.current

    init() throws {
        listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { [accepted] _, event in
            guard case .accepted(let port) = event else { return }
            port.setSendableHandler { _, _ in }
            accepted.value = port
        }
        loop.add(listener, forMode: .default)
        guard let address = listener.localAddress else { preconditionFailure("No address.") }
        peer = try Peer(connectingTo: address)
        loop.run(untilTrue: { [accepted] in accepted.value != nil })
        listener.invalidate()
    }

    var port: SocketPort {
        guard let port = accepted.value else { preconditionFailure("It was released.") }
        return port
    }

    func release() { accepted.value = nil }

    /// Ends the connection when everything was sent, and checks how much the peer got.
    func expectAllSent(_ count: Int) {
        let received = SharedBox(0)
        let copy = dup(peer.number)
        let reader = startThread { received.value = Peer(owning: copy).readToTheEnd().count }
        loop.add(port, forMode: .default)
        port.invalidateWhenDrained()
        precondition(loop.run(mode: .default, for: .seconds(60)) == .finished)
        reader.join()
        precondition(received.value == count, "\(received.value) arrived.")
    }
}

/// More bytes than the socket has room for.
private let manyBytes = [UInt8](repeating: 7, count: 8 << 20)

private func changeInChildren() throws {
    try onAnotherThread {
        let loop = UVRunLoop.current
        let server = try Server(loop)
        let peer = try Peer(connectingTo: server.address)
        loop.run(untilTrue: { !server.connections.isEmpty })
        let port = server.connection
        let changes: [(String, () -> Void)] = [
            ("send", { port.send([1]) }),
            ("endSending", { port.endSending() }),
            ("invalidateWhenDrained", { port.invalidateWhenDrained() }),
            ("pauseReading", { port.pauseReading() }),
            ("lowMark", { port.lowMark = 1 }),
            ("invalidate", { port.invalidate() }),
        ]
        for (name, change) in changes {
            precondition(trapsInChild(change), "\(name) did not trap.")
        }
        precondition(port.send([2]) && peer.read() == [2])
        peer.write("x")
        loop.run(untilTrue: { server.log.entries == ["received x"] })
        precondition(port.isValid)
        server.close()
    }
}

private func serveInChild() throws {
    try onAnotherThread {
        let connection = try AcceptedConnection()
        let status = inChild {
            guard connection.port.send([5]) else { return 1 }
            connection.port.endSending()
            return 0
        }
        precondition(status == 0 && connection.peer.readToTheEnd() == [5])
    }
}

private func releaseInChild() throws {
    try onAnotherThread {
        let connection = try AcceptedConnection()
        connection.port.send(manyBytes)
        let status = inChild {
            guard connection.port.queuedBytes > 0 else { return 1 }
            connection.port.invalidate()
            connection.release()
            return 0
        }
        precondition(status == 0)
        connection.expectAllSent(manyBytes.count)
    }
}

private func readInChild() throws {
    try onAnotherThread {
        let connection = try AcceptedConnection()
        let port = connection.port
        port.send(manyBytes)
        port.endSending()
        connection.peer.write("x")
        let status = inChild {
            guard !port.send([1]) else { return 1 }
            port.endSending()
            let loop = UVRunLoop.current
            loop.add(port, forMode: .default)
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            port.invalidate()
            return 0
        }
        precondition(status == 0)
        connection.expectAllSent(manyBytes.count)
    }
}
