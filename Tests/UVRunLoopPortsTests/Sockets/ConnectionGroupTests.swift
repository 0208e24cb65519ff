import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The end of a listener and its connections: who is told what, in which order, and what the limit
/// does.
@Suite(.timeLimit(.minutes(15))) struct ConnectionGroupTests {
    @Test func aGroupWithoutConnectionsEndsAfterTheCall() throws {
        try withGroup { hall in
            hall.end(limit: nil)
            hall.log.note("returned")
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            #expect(hall.log.entries == ["returned", "0 finished, 0 failed, 0 cut"])
            #expect(!hall.listener.isValid)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func connectionsFinishWhenTheirPeersEndToo(kind: DriverKind) throws {
        try withGroup(kind) { hall in
            let peers = try hall.connect(3)
            hall.end(limit: nil)
            for peer in peers {
                #expect(peer.read() == [])
                peer.close()
            }
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            let told = ["accepted", "accepted", "accepted", "ended", "ended", "ended"]
            #expect(hall.log.entries == told + ["3 finished, 0 failed, 0 cut"])
            #expect(hall.group.count == 0)
        }
    }

    @Test func theQueueIsSentBeforeTheEnd() throws {
        try withGroup(.uv) { hall in
            let peer = try hall.connect(1)[0]
            let bytes = sampleBytes(4 << 20)
            hall.group.connections[0].send(bytes)
            hall.end(limit: nil)
            let received = SharedBox<[UInt8]>([])
            let reader = startUncheckedThread {
                received.value = peer.readToTheEnd()
                peer.close()
            }
            #expect(hall.loop.run(mode: .default, for: .seconds(600)) == .finished)
            reader.join()
            #expect(received.value == bytes)
            #expect(hall.log.entries.last == "1 finished, 0 failed, 0 cut")
        }
    }

    @Test func goodbyeIsSaidInTheOrderOfTheConnectionsAndTheListenerIsClosedBefore() throws {
        let log = EventLog()
        let listener = Box<SocketPort?>(nil)
        try withGroup(goodbye: { connection in
            log.note("goodbye, listener \(listener.value?.isValid == true ? "open" : "closed")")
            connection.send("bye".utf8)
            connection.endSending()
        }) { hall in
            listener.value = hall.listener
            let peers = try hall.connect(2)
            hall.end(limit: nil)
            log.note("returned")
            #expect(
                log.entries == Array(repeating: "goodbye, listener closed", count: 2) + ["returned"]
            )
            for peer in peers {
                #expect(String(decoding: peer.readToTheEnd(), as: UTF8.self) == "bye")
                peer.close()
            }
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
        }
    }

    @Test func aGoodbyeMayLeaveARequestUnderWay() throws {
        try withGroup(goodbye: { _ in }) { hall in
            let peer = try hall.connect(1)[0]
            hall.end(limit: .seconds(3_600))
            peer.write("last question")
            hall.serve { hall.log.entries.contains("received last question") }
            hall.group.connections[0].send("answer".utf8)
            hall.group.connections[0].endSending()
            #expect(String(decoding: peer.readToTheEnd(), as: UTF8.self) == "answer")
            peer.close()
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            #expect(hall.log.entries.last == "1 finished, 0 failed, 0 cut")
        }
    }

    @Test func theGoodbyeAndTheHandlerAreReleasedAtTheEnd() throws {
        final class Token {}
        weak var captured: Token?
        try withLoop(.manual) { loop, log in
            let folder = TemporaryFolder()
            let group: UVRunLoop.ConnectionGroup
            do {
                let token = Token()
                captured = token
                group = UVRunLoop.ConnectionGroup(on: loop) { connection in
                    withExtendedLifetime(token) { connection.endSending() }
                }
                try group.listen(at: .unix(folder.path + "/socket")) { _, _ in
                    withExtendedLifetime(token) {}
                }
            }
            #expect(captured != nil)
            group.end(limit: nil) { _ in log.note("end") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["end"])
            #expect(captured == nil)
        }
    }

    // MARK: The limit

    @Test func whatIsLeftAtTheLimitIsCut() throws {
        try withGroup { hall in
            let start = hall.loop.now
            let peers = try hall.connect(3)
            hall.end(limit: .seconds(10))
            peers[0].close()
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            #expect(hall.loop.now == start + .seconds(10))
            #expect(hall.log.entries.last == "1 finished, 0 failed, 2 cut")
            #expect(peers[1].read() == [])
        }
    }

    @Test func aSecondEndShortensTheLimitAndIsToldToo() throws {
        try withGroup { hall in
            let start = hall.loop.now
            let peers = try hall.connect(2)
            hall.end(limit: .seconds(100))
            hall.end(limit: .seconds(200))
            hall.end(limit: .seconds(5))
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            #expect(hall.loop.now == start + .seconds(5))
            let told = Array(repeating: "0 finished, 0 failed, 2 cut", count: 3)
            #expect(hall.log.entries.suffix(3) == told[...])
            for peer in peers { #expect(peer.read() == []) }
        }
    }

    @Test func aLimitOfZeroCutsAllAfterTheGoodbye() throws {
        try withGroup(goodbye: { $0.send("bye".utf8) }) { hall in
            let peer = try hall.connect(1)[0]
            hall.end(limit: nil)
            hall.end(limit: .zero)
            #expect(hall.group.count == 0)
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            #expect(String(decoding: peer.readToTheEnd(), as: UTF8.self) == "bye")
            #expect(hall.log.entries.last == "0 finished, 0 failed, 1 cut")
        }
    }

    @Test func anEndAfterTheEndIsToldTheSame() throws {
        try withGroup { hall in
            let peer = try hall.connect(1)[0]
            hall.end(limit: .zero)
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            hall.end(limit: .seconds(1))
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            let told = Array(repeating: "0 finished, 0 failed, 1 cut", count: 2)
            #expect(hall.log.entries.suffix(2) == told[...])
            #expect(peer.read() == [])
        }
    }

    @Test func queuedBytesThatAreCutResetATCPConnection() throws {
        try withGroup(.uv, isTCP: true) { hall in
            let peer = try hall.connect(1)[0]
            hall.group.connections[0].send(sampleBytes(8 << 20))
            hall.end(limit: .milliseconds(20))
            #expect(hall.loop.run(mode: .default, for: .seconds(600)) == .finished)
            while let bytes = peer.read(), !bytes.isEmpty {}
            #expect(errno == ECONNRESET)
            #expect(hall.log.entries.last == "0 finished, 0 failed, 1 cut")
        }
    }

    @Test func aConnectionThatFailsIsCountedAsSuch() throws {
        try withGroup(.uv, isTCP: true) { hall in
            let peers = try hall.connect(2)
            hall.end(limit: nil)
            peers[0].reset()
            peers[1].close()
            #expect(hall.loop.run(mode: .default, for: .seconds(600)) == .finished)
            #expect(hall.log.entries.last == "1 finished, 1 failed, 0 cut")
        }
    }

    // MARK: Who comes late

    @Test(arguments: [true, false])
    func aClientThatWasNotAcceptedIsReset(isTCP: Bool) throws {
        try withGroup(.uv, isTCP: isTCP) { hall in
            let peer = try Peer(connectingTo: hall.address)
            hall.end(limit: .seconds(60))
            #expect(peer.read() == nil && errno == ECONNRESET)
            #expect(hall.loop.run(mode: .default, for: .seconds(600)) == .finished)
            #expect(hall.log.entries == ["0 finished, 0 failed, 0 cut"])
        }
    }

    @Test func aPortThatIsAddedLateEndsToo() throws {
        try withGroup { hall in
            let peers = try hall.connect(1)
            let other = try SocketPort(listeningAt: .unix(hall.folder.path + "/other")) { _, _ in }
            let late = try SocketPort(connectingTo: .unix(hall.folder.path + "/other")) {
                _,
                event in
                hall.log.note("late " + event.text)
            }
            let tooLate = try SocketPort(connectingTo: .unix(hall.folder.path + "/other")) { _, _ in
            }
            hall.end(limit: .seconds(10))
            hall.group.add(late)
            peers[0].close()
            #expect(hall.loop.run(mode: .default, for: nil) == .finished)
            #expect(hall.log.entries.contains("late connected"))
            #expect(hall.log.entries.last == "1 finished, 0 failed, 1 cut")
            hall.group.add(tooLate)
            hall.group.add(other)
            #expect(!tooLate.isValid && !other.isValid)
        }
    }

    // MARK: Tasks and threads

    @Test func aTaskWaitsForTheEnd() async throws {
        try await UVRunLoop.withThread { loop in
            let folder = TemporaryFolder()
            let group = UVRunLoop.ConnectionGroup(on: loop)
            let listener = try SocketPort(listeningAt: .unix(folder.path + "/socket"))
            group.add(listener)
            let peers = try (0..<2).map { _ in
                try Peer(connectingTo: .unix(folder.path + "/socket"))
            }
            var connections = listener.connections.makeAsyncIterator()
            for _ in peers {
                if let connection = try await connections.next() { group.add(connection) }
            }
            peers[0].close()
            let outcome = try await group.end(limit: .milliseconds(50))
            #expect(outcome.finished + outcome.cut == 2)
            #expect(outcome.cut >= 1)
            let again = try await group.end(limit: nil)
            #expect(again == outcome)
        }
    }

    @Test func aCancelledTaskCutsWhatIsLeft() async throws {
        try await UVRunLoop.withThread { loop in
            let group = UVRunLoop.ConnectionGroup(on: loop, sendableGoodbye: { _ in })
            let connection = try UnixConnections().connect()
            group.add(connection.port)
            let end = Task { try await group.end(limit: nil) }
            try await yield(until: { group.isEnding })
            end.cancel()
            await #expect(throws: CancellationError.self) { try await end.value }
            let outcome = try await group.end(limit: nil)
            #expect(outcome.cut == 1)
            #expect(!connection.port.isValid)
            try await yield(until: { connection.peer.isAtEnd })
            connection.peer.close()
        }
    }

    @Test(arguments: [true, false])
    func aTaskThatWasCancelledBeforeEndsTheGroupAtOnce(isOnThread: Bool) async throws {
        try await UVRunLoop.withThread { loop in
            for _ in 0..<20 {
                let group = UVRunLoop.ConnectionGroup(on: loop, sendableGoodbye: { _ in })
                let folder = TemporaryFolder()
                let listener = try SocketPort(listeningAt: .unix(folder.path + "/socket"))
                group.add(listener)
                let connection = try UnixConnections().connect()
                group.add(connection.port)
                let end = Task { [isOnThread] in
                    while !Task.isCancelled { await Task.yield() }
                    guard isOnThread else { return try await group.end(limit: nil) }
                    return try await LoopActor(loop).end(group, listener)
                }
                end.cancel()
                await #expect(throws: CancellationError.self) { try await end.value }
                #expect(try await group.end(limit: nil).cut == 1)
                #expect(!listener.isValid && !connection.port.isValid)
                connection.peer.close()
            }
        }
    }

    @Test func theEndOfTheThreadEndsTheWait() async throws {
        let thread = try startThread()
        let group = UVRunLoop.ConnectionGroup(on: thread.runLoop, sendableGoodbye: { _ in })
        let connection = try UnixConnections().connect()
        group.add(connection.port)
        let end = Task { try await group.end(limit: nil) }
        try await yield(until: { group.isEnding })
        thread.stop(afterQueuedWork: false)
        await #expect(throws: UVRunLoop.PerformError.threadEnded) { try await end.value }
        await #expect(throws: UVRunLoop.PerformError.threadEnded) {
            try await group.end(limit: nil)
        }
        connection.peer.close()
    }

    /// The mode does not run again, so the loop drops what it had to tell.
    @Test(arguments: DriverKind.allCases)
    func whatCapturesTheGroupIsReleasedIfTheLoopEndsBeforeItTells(kind: DriverKind) {
        let released = EventLog()
        withLoop(kind) { loop, _ in
            let ends = ["goodbye", "completion"].map { end in Farewell { released.note(end) } }
            let box = Box<UVRunLoop.ConnectionGroup?>(nil)
            let group = UVRunLoop.ConnectionGroup(on: loop, mode: UVRunLoop.Mode("not run")) { _ in
                withExtendedLifetime((box.value, ends[0])) {}
            }
            box.value = group
            group.end(limit: nil) { _ in withExtendedLifetime((group, ends[1])) {} }
        }
        #expect(Set(released.entries) == ["goodbye", "completion"])
    }

    @Test func anEndOnAnotherThreadTraps() async {
        await #expect(processExitsWith: .failure) {
            let thread = try startThread()
            endHere(UVRunLoop.ConnectionGroup(on: thread.runLoop))
        }
    }
}

private func endHere(_ group: UVRunLoop.ConnectionGroup) { group.end(limit: nil) }

/// Starts a thread from a task; the call waits for the thread's loop.
private func startThread() throws -> UVRunLoop.Thread { try UVRunLoop.Thread() }

/// A group with a listener, and a log of what is told.
private final class Hall {
    let loop: UVRunLoop
    let group: UVRunLoop.ConnectionGroup
    let log: EventLog
    let listener: SocketPort
    let folder = TemporaryFolder()

    var address: SocketAddress {
        guard let address = listener.localAddress else { preconditionFailure("No address.") }
        return address
    }

    init(
        _ loop: UVRunLoop,
        _ log: EventLog,
        _ goodbye: ((SocketPort) -> Void)?,
        isTCP: Bool
    ) throws {
        self.loop = loop
        self.log = log
        group = UVRunLoop.ConnectionGroup(on: loop, goodbye: goodbye)
        listener = try group.listen(
            at: isTCP ? .ipv4Loopback(port: 0) : .unix(folder.path + "/socket")
        ) { _, event in
            if case .drained = event { return }
            log.note(event.text)
        }
    }

    /// Connects clients, and waits until they are accepted.
    func connect(_ count: Int) throws -> [Peer] {
        let peers = try (0..<count).map { _ in try Peer(connectingTo: address) }
        serve { group.count == count }
        return peers
    }

    func serve(until condition: () -> Bool) {
        while !condition() { loop.run(for: .seconds(60), returnAfterSourceHandled: true) }
    }

    func end(limit: Duration?) {
        group.end(limit: limit) { [log] outcome in
            log.note("\(outcome.finished) finished, \(outcome.failed) failed, \(outcome.cut) cut")
        }
    }
}

private func withGroup(
    _ kind: DriverKind = .manual,
    goodbye: ((SocketPort) -> Void)? = nil,
    isTCP: Bool = false,
    _ body: (Hall) throws -> Void
) throws {
    try withLoop(kind) { loop, log in
        let hall = try Hall(loop, log, goodbye, isTCP: isTCP)
        try body(hall)
        hall.group.end(limit: .zero)
        loop.run(for: .zero)
    }
}
