import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The bytes of a connection as a sequence.
@Suite(.timeLimit(.minutes(15))) struct SocketBytesTests {
    @Test func anActorOnTheLoopEchoes() async throws {
        let sample = sampleBytes(3_000_000)
        let echoed = try await UVRunLoop.withThread { loop in
            let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0))
            loop.add(listener, forMode: .common)
            let address = try #require(listener.localAddress)
            let server = Task {
                let actor = LoopActor(loop)
                for try await connection in listener.connections {
                    try await actor.echo(connection)
                }
            }
            let client = try SocketPort(connectingTo: address)
            loop.add(client, forMode: .common)
            try await client.connected()
            client.send(sample)
            client.endSending()
            let echoed = try await client.readAll()
            listener.invalidate()
            try await server.value
            #expect(!client.isValid)
            return echoed
        }
        #expect(echoed == sample)
    }

    @Test func theEndOfTheSequenceIsThatOfThePort() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            let bytes = pair.server.bytes
            pair.client.send([1])
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == [1])
            bytes.invalidate()
            #expect(!pair.server.isValid)
            #expect(try await iterator.next() == nil)
            #expect(try await pair.client.nextBytes() == nil)
            pair.close()
        }
    }

    @Test func bytesThatNobodyTakesStayInTheKernel() async throws {
        let sample = sampleBytes(32 << 20)
        let received = try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            pair.client.send(sample)
            pair.client.endSending()
            awaitIdleness(of: loop) { pair.client.queuedBytes }
            #expect(pair.client.queuedBytes > 8 << 20)
            // A loop that is told of bytes which it may not read would not sleep.
            #expect(isQuiet(loop) && loop.contains(pair.server, forMode: .default))
            let received = try await pair.server.readAll()
            pair.close()
            return received
        }
        #expect(received == sample)
    }

    @Test func aPortThatDoesNotReadStillSends() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            let sample = sampleBytes(8 << 20)
            // The server keeps one chunk, and reads no more.
            pair.client.send([1])
            awaitIdleness(of: loop)
            pair.client.send([2])
            pair.server.send(sample)
            #expect(try await pair.client.readAll(sample.count) == sample)
            #expect(try await pair.server.nextBytes() == [1])
            #expect(try await pair.server.nextBytes() == [2])
            pair.close()
        }
    }

    // MARK: The end

    @Test func aCancelledWaitEndsAndLosesNothing() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            let wait = Task { try await pair.server.nextBytes() }
            letTimePass(.milliseconds(2))
            wait.cancel()
            #expect(try await wait.value == nil)
            #expect(pair.server.isValid)
            pair.client.send([7])
            #expect(try await pair.server.nextBytes() == [7])
            pair.close()
        }
    }

    /// Between its look at what is there and its wait.
    @Test func aTaskThatIsCancelledBeforeItWaitsLeavesTheBytes() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            let bytes = try await inCancelledTask(of: pair, keeping: [2]) {
                try await pair.server.awaitBytes(isolation: nil)
            }
            #expect(bytes == nil)
            pair.client.send([3])
            // In which a port that reads on would.
            letTimePass(.milliseconds(5))
            #expect(try await pair.server.nextBytes() == [2])
            #expect(try await pair.server.nextBytes() == [3])
            pair.close()
        }
    }

    /// A peer that sends without a pause must not keep a task that was told to end.
    @Test func aCancelledTaskGetsNoBytesThoughThereAreSome() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            let bytes = try await inCancelledTask(of: pair, keeping: [2]) {
                try await pair.server.nextBytes()
            }
            #expect(bytes == nil)
            #expect(try await pair.server.nextBytes() == [2])
            pair.close()
        }
    }

    @Test func theSequenceEndsWithThePeer() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            pair.client.send([1, 2])
            pair.client.endSending()
            #expect(try await pair.server.readAll() == [1, 2])
            #expect(try await pair.server.nextBytes() == nil)
            // The other direction goes on.
            pair.server.send([3])
            #expect(try await pair.client.nextBytes() == [3])
            pair.server.endSending()
            #expect(try await pair.client.nextBytes() == nil)
            pair.close()
        }
    }

    @Test(arguments: [true, false])
    func theSequenceEndsWithTheLoop(isOnLoop: Bool) async throws {
        let (wait, port) = try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            let port = pair.server
            let wait =
                isOnLoop
                ? Task(executorPreference: loop.taskExecutor) { try await port.nextBytes() }
                : Task { try await port.nextBytes() }
            letTimePass(.milliseconds(2))
            return (wait, port)
        }
        #expect(try await wait.value == nil)
        #expect(!port.isValid)
    }

    @Test func theSequenceEndsWithThePort() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            let wait = Task { try await pair.server.nextBytes() }
            letTimePass(.milliseconds(2))
            pair.server.invalidate()
            #expect(try await wait.value == nil)
            #expect(try await pair.server.nextBytes() == nil)
            pair.close()
        }
    }

    // MARK: Failures

    @Test func aRefusedConnectionThrowsOnce() async throws {
        try await UVRunLoop.withThread { loop in
            let deaf = try PlainListener(at: .ipv4Loopback(port: 0), backlog: nil)
            let port = try SocketPort(connectingTo: deaf.address)
            loop.add(port, forMode: .common)
            await #expect { try await port.connected() } throws: { isRefused($0) }
            await #expect { try await port.nextBytes() } throws: { isRefused($0) }
            #expect(try await port.nextBytes() == nil)
            await #expect { try await port.connected() } throws: { isRefused($0) }
            #expect(!port.isValid)
            deaf.close()
        }
    }

    @Test(arguments: [true, false])
    func aResetComesAfterTheBytesBeforeIt(isWaiting: Bool) async throws {
        try await UVRunLoop.withThread { loop in
            let listener = try PlainListener(at: .ipv4Loopback(port: 0))
            let port = try SocketPort(connectingTo: listener.address)
            loop.add(port, forMode: .common)
            let peer = listener.accept()
            try await port.connected()
            let wait = isWaiting ? Task { try await port.nextBytes() } : nil
            peer.write("one")
            awaitIdleness(of: loop)
            peer.write("two")
            awaitIdleness(of: loop)
            peer.reset()
            awaitIdleness(of: loop)
            #expect(isQuiet(loop))
            var text = ""
            if let wait {
                text += String(decoding: try #require(try await wait.value), as: UTF8.self)
            }
            await #expect {
                while let bytes = try await port.nextBytes() {
                    text += String(decoding: bytes, as: UTF8.self)
                }
            } throws: {
                ($0 as? UVRunLoop.SocketError)?.code == .connectionReset
            }
            #expect(text == "onetwo")
            #expect(try await port.nextBytes() == nil)
            #expect(!port.isValid)
        }
    }

    @Test func aSendThatFailsIsThrownAfterTheBytesBeforeIt() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            pair.client.send([1])
            awaitIdleness(of: loop)
            pair.server.maximumQueuedBytes = 1 << 20
            #expect(!pair.server.send(sampleBytes(64 << 20)))
            await #expect(throws: UVRunLoop.SocketError.self) { try await pair.server.drained() }
            #expect(try await pair.server.nextBytes() == [1])
            await #expect {
                try await pair.server.nextBytes()
            } throws: {
                ($0 as? UVRunLoop.SocketError)?.code == .queueOverflow
            }
            #expect(try await pair.server.nextBytes() == nil)
            pair.close()
        }
    }

    // MARK: Handlers

    @Test func theTaskTakesOverFromTheHandler() throws {
        try withLoop { loop in
            let log = EventLog()
            let server = try Server(loop) { _, event in log.note(event) }
            let peer = try Peer(connectingTo: server.address)
            loop.run { !server.connections.isEmpty }
            let port = server.connection
            peer.write("one")
            loop.run { log.count == 1 }
            Task(executorPreference: loop.taskExecutor) {
                for try await bytes in port.bytes {
                    log.note("taken " + String(decoding: bytes, as: UTF8.self))
                }
                log.note("end")
            }
            // The task begins in the first pass.
            loop.run(for: .milliseconds(1))
            peer.write("two")
            loop.run { log.count == 2 }
            peer.close()
            loop.run { log.count == 3 }
            #expect(log.entries == ["received one", "taken two", "end"])
            server.close()
        }
    }

    @Test func cancelledWaitsLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) {
            await awaitDispatchTimers()
            try await UVRunLoop.withThread { loop in
                let pair = try await SocketPair(loop)
                let before = openFiles()
                for number in 0..<1_000 {
                    let wait = Task { try await pair.server.nextBytes() }
                    if number % 2 == 0 { await Task.yield() }
                    wait.cancel()
                    let value = try await wait.value
                    #expect(value == nil, "\(number) got \(value ?? []).")
                }
                let after = openFiles()
                #expect(after == before, "\(after) are open, and not \(before).")
                pair.close()
            }
        }
    }

    /// Takes bytes in a task that is cancelled when others were read, and are kept.
    private func inCancelledTask(
        of pair: SocketPair,
        keeping kept: [UInt8],
        _ take: @escaping @Sendable () async throws -> [UInt8]?
    ) async throws -> [UInt8]? {
        pair.client.send([1])
        #expect(try await pair.server.nextBytes() == [1])
        pair.client.send(kept)
        let cancelled = Task {
            awaitCondition { pair.server.stream.state.withLock { $0.lifecycle.isHeld } }
            withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await take()
        }
        return try await cancelled.value
    }

    private func isRefused(_ error: any Error) -> Bool {
        (error as? UVRunLoop.SocketError)?.code == .connectionRefused
    }
}
