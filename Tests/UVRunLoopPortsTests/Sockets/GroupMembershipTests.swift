import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The connections that a group keeps: until its loop's thread ends.
@Suite(.timeLimit(.minutes(15))) struct GroupMembershipTests {
    typealias Group = UVRunLoop.ConnectionGroup

    // MARK: The end of the thread

    @Test func aConnectionThatIsAddedAfterTheEndOfTheThreadIsClosed() async throws {
        let thread = try startThread()
        end(thread)
        let maker = try UnixConnections()
        let connection = try maker.connect()
        let group = Group(on: thread.runLoop, sendableGoodbye: { _ in })
        var bytes = connection.port.bytes.makeAsyncIterator()
        group.add(connection.port)
        try #require(!connection.port.isValid)
        #expect(try await bytes.next() == nil)
        #expect(group.count == 0)
        #expect(connection.peer.read() == [])
    }

    @Test func portsThatAreAddedAfterTheEndOfTheThreadAreReleased() throws {
        let thread = try startThread()
        end(thread)
        let maker = try UnixConnections()
        let (kept, peer) = try addPorts(to: thread.runLoop, maker)
        #expect(kept() == [false, false, false])
        #expect(peer.read() == [])
    }

    @Test func portsAreReleasedAtTheEndOfTheThread() throws {
        let thread = try startThread()
        let maker = try UnixConnections()
        let (kept, peer) = try addPorts(to: thread.runLoop, maker)
        #expect(kept() == [true, true, true])
        end(thread)
        #expect(kept() == [false, false, false])
        #expect(peer.read() == [])
    }

    /// Adds a connection and a listener to a new group, and releases them.
    private func addPorts(
        to loop: UVRunLoop,
        _ maker: UnixConnections
    ) throws -> (kept: () -> [Bool], peer: Peer) {
        let group = Group(on: loop, sendableGoodbye: { _ in })
        let (connection, listener) = (try maker.connect(), try maker.listen())
        // As a handler that adds the accepted connections does.
        listener.setSendableHandler { _, _ in withExtendedLifetime(group) {} }
        group.add(connection.port)
        group.add(listener)
        let kept = { [weak group, weak port = connection.port, weak listener] in
            [group != nil, port != nil, listener != nil]
        }
        return (kept, connection.peer)
    }
}

/// Starts a thread from a task; the call waits for the thread's loop.
private func startThread() throws -> UVRunLoop.Thread { try UVRunLoop.Thread() }

/// Stops a thread and waits for it, which a test may do.
private func end(_ thread: UVRunLoop.Thread) {
    thread.stop()
    thread.join()
}
