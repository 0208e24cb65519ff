import Glibc
import TestSupport
import Testing
import UVRunLoopTesting

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The connections that a group keeps: each once, and until its loop's thread ends.
@Suite(.timeLimit(.minutes(15))) struct GroupMembershipTests {
    @Test func theLimitOfATaskCountsFromItsCall() async throws {
        let clock = UVRunLoop.VirtualClock()
        let thread = try makeThread(clock)
        let executor = HeldExecutor()
        let group = Group(on: thread.runLoop, sendableGoodbye: { _ in })
        let connection = try UnixConnections().connect()
        group.add(connection.port)
        let (isHeld, goOn) = (Signal(), Signal())
        thread.runLoop.perform {
            isHeld.send()
            goOn.wait()
            clock.advance(by: .seconds(10))
        }
        waitInThread(for: isHeld)
        let end = Task(executorPreference: executor) { try await group.end(limit: .seconds(5)) }
        executor.performNext()
        goOn.send()
        executor.release()
        let outcome = try await end.value
        #expect(outcome.cut == 1)
        #expect(clock.elapsed == .seconds(10))
        connection.peer.close()
        thread.stop()
    }

    typealias Group = UVRunLoop.ConnectionGroup

    // MARK: The end of the thread

    @Test func aConnectionThatIsAddedAfterTheEndOfTheThreadIsClosed() async throws {
        let thread = try startLoop()
        end(thread)
        let maker = try UnixConnections()
        let connection = try maker.connect()
        let group = Group(on: thread.runLoop, sendableGoodbye: { _ in })
        var bytes = connection.port.bytes.makeAsyncIterator()
        group.add(connection.port)
        try #require(!connection.port.isValid)
        #expect(try await bytes.next() == nil)
        #expect(group.count == 0)
        try await yield(until: { connection.peer.isAtEnd })
    }

    @Test func portsThatAreAddedAfterTheEndOfTheThreadAreReleased() throws {
        let thread = try startLoop()
        end(thread)
        let maker = try UnixConnections()
        let (kept, peer) = try addPorts(to: thread.runLoop, maker)
        #expect(kept() == [false, false, false])
        #expect(peer.read() == [])
    }

    @Test func portsAreReleasedAtTheEndOfTheThread() throws {
        let thread = try startLoop()
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

    // MARK: One group

    @Test func aConnectionThatIsAddedTwiceIsThereOnce() throws {
        try withLoop(.manual) { loop, log in
            let maker = try UnixConnections()
            let connection = try maker.connect()
            let group = Group(on: loop)
            group.add(connection.port)
            group.add(connection.port)
            #expect(group.count == 1)
            #expect(group.connections.map { $0 === connection.port } == [true])
            group.end(limit: nil) { log.note("\($0.finished) finished") }
            connection.peer.close()
            #expect(loop.run(for: .seconds(60)) == .finished)
            #expect(log.entries == ["1 finished"])
        }
    }

    @Test func anInvalidConnectionIsNotCounted() throws {
        try withLoop(.manual) { loop, log in
            let maker = try UnixConnections()
            let (first, second) = (try maker.connect(), try maker.connect())
            let group = Group(on: loop)
            group.add(first.port)
            group.end(limit: .seconds(5)) { log.note("\($0.finished) and \($0.cut)") }
            second.port.invalidate()
            group.add(second.port)
            #expect(loop.run(for: .seconds(60)) == .finished)
            #expect(log.entries == ["0 and 1"])
        }
    }

    @Test func aConnectionMayNotBeInTwoGroups() async {
        await #expect(processExitsWith: .failure) { try addToTwoGroups() }
    }
}

private func addToTwoGroups() throws {
    let maker = try UnixConnections()
    let connection = try maker.connect()
    for _ in 0..<2 { UVRunLoop.ConnectionGroup(on: .current).add(connection.port) }
    exit(0)
}

private func makeThread(_ clock: UVRunLoop.VirtualClock) throws -> UVRunLoop.Thread {
    try UVRunLoop.Thread(clock: clock)
}
