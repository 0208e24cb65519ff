import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The connections of a listener as a sequence, and the waits of a connection.
@Suite(.timeLimit(.minutes(15))) struct SocketConnectionsTests {
    @Test func connectionsAreTakenInTurn() async throws {
        try await UVRunLoop.withThread { loop in
            let (listener, address) = try listen(loop)
            let peers = try (0..<5).map { _ in try Peer(connectingTo: address) }
            var connections = listener.connections.makeAsyncIterator()
            for number in 0..<5 {
                let connection = try #require(try await connections.next())
                loop.add(connection, forMode: .common)
                connection.send([UInt8(number)])
                #expect(peers[number].read(1) == [UInt8(number)])
                connection.invalidate()
            }
            listener.invalidate()
            #expect(try await connections.next() == nil)
        }
    }

    /// Not in a forked process, which has no threads for tasks.
    @Test func aListenerThatTheKernelDoesNotWatchThrowsItsError() async {
        await #expect(processExitsWith: .success) { try refuseToWatchAListener() }
    }

    @Test func oneConnectionIsAcceptedThatNobodyTakes() async throws {
        try await UVRunLoop.withThread { loop in
            let (listener, address) = try listen(loop)
            let peers = try (0..<3).map { _ in try Peer(connectingTo: address) }
            #expect(awaitCondition { openCount(of: listener) == 1 })
            awaitIdleness(of: loop)
            #expect(openCount(of: listener) == 1)
            #expect(isQuiet(loop))
            var connections = listener.connections.makeAsyncIterator()
            let first = try #require(try await connections.next())
            #expect(awaitCondition { openCount(of: listener) == 2 })
            awaitIdleness(of: loop)
            #expect(openCount(of: listener) == 2)
            first.invalidate()
            listener.invalidate()
            #expect(peers[0].readToTheEnd() == [])
            #expect(peers[1].readToTheEnd() == [])
            #expect(openCount(of: listener) == 0)
        }
    }

    @Test func aListenerThatIsReleasedClosesAConnectionThatNobodyTook() throws {
        try withLoop { loop in
            var listener: SocketPort? = try SocketPort(listeningAt: .ipv4Loopback(port: 0))
            let peer = try Peer(connectingTo: try #require(listener?.localAddress))
            if let listener {
                loop.add(listener, forMode: .default)
                while openCount(of: listener) == 0 { loop.run(for: .milliseconds(1)) }
                loop.remove(listener, forMode: .default)
            }
            listener = nil
            #expect(peer.readToTheEnd() == [])
        }
    }

    @Test func aFullListenerGoesOnForATask() async throws {
        try await UVRunLoop.withThread { loop in
            var options = SocketPort.ListenOptions()
            options.maximumConnections = 1
            let (listener, address) = try listen(loop, options)
            let peers = try (0..<3).map { _ in try Peer(connectingTo: address) }
            for try await connection in listener.connections.prefix(3) { connection.invalidate() }
            listener.invalidate()
            for peer in peers { #expect(peer.readToTheEnd() == []) }
        }
    }

    @Test func theSequenceEnds() async throws {
        let (listener, last) = try await UVRunLoop.withThread { loop in
            let (listener, _) = try listen(loop)
            let cancelled = Task { try await next(of: listener) }
            letTimePass(.milliseconds(2))
            cancelled.cancel()
            #expect(try await cancelled.value == nil)
            let (other, _) = try listen(loop)
            let invalidated = Task { try await next(of: other) }
            letTimePass(.milliseconds(2))
            other.connections.invalidate()
            #expect(try await invalidated.value == nil)
            let last = Task { try await next(of: listener) }
            letTimePass(.milliseconds(2))
            return (listener, last)
        }
        #expect(try await last.value == nil)
        #expect(!listener.isValid)
    }

    // MARK: Waits

    @Test func drainedWaitsForTheLowMark() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            try await pair.client.drained()
            let sample = sampleBytes(32 << 20)
            pair.client.send(sample)
            async let received = pair.server.readAll(sample.count)
            try await pair.client.drained()
            #expect(pair.client.queuedBytes <= pair.client.lowMark)
            #expect(try await received == sample)
            pair.close()
        }
    }

    @Test func aHigherLowMarkEndsTheWait() async throws {
        try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            pair.client.send(sampleBytes(32 << 20))
            let drained = Task { try await pair.client.drained() }
            try await yield(until: { waitCount(of: pair.client) > 0 })
            pair.client.lowMark = 32 << 20
            try await drained.value
            #expect(!pair.client.isAboveHighMark)
            pair.close()
        }
    }

    @Test func waitsEndWithoutWhatTheyWaitFor() async throws {
        let last = try await UVRunLoop.withThread { loop in
            let pair = try await SocketPair(loop)
            pair.client.send(sampleBytes(32 << 20))
            let cancelled = Task { try await pair.client.drained() }
            try await yield(until: { waitCount(of: pair.client) > 0 })
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let invalidated = Task { try await pair.client.drained() }
            try await yield(until: { waitCount(of: pair.client) > 0 })
            pair.client.invalidate()
            await #expect {
                try await invalidated.value
            } throws: {
                ($0 as? UVRunLoop.SocketError)?.code == .invalidated
            }
            pair.close()
            let other = try await SocketPair(loop)
            other.client.send(sampleBytes(32 << 20))
            let last = Task { try await other.client.drained() }
            try await yield(until: { waitCount(of: other.client) > 0 })
            return last
        }
        await #expect(throws: UVRunLoop.PerformError.threadEnded) { try await last.value }
    }

    @Test func aBrokenConnectionEndsTheWaitForItsQueue() async throws {
        try await UVRunLoop.withThread { loop in
            let listener = try PlainListener(at: .ipv4Loopback(port: 0))
            let port = try SocketPort(connectingTo: listener.address)
            loop.add(port, forMode: .common)
            let peer = listener.accept()
            try await port.connected()
            port.send(sampleBytes(32 << 20))
            let wait = Task { try await port.drained() }
            awaitIdleness(of: loop)
            peer.reset()
            await #expect(throws: UVRunLoop.SocketError.self) { try await wait.value }
        }
    }

    @Test func cancelledWaitsLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) {
            await awaitDispatchTimers()
            try await UVRunLoop.withThread { loop in
                let (listener, _) = try listen(loop)
                let pair = try await SocketPair(loop)
                pair.client.send(sampleBytes(32 << 20))
                let before = openDescriptorCount()
                for number in 0..<1_000 {
                    let wait = Task { try await next(of: listener) }
                    let drain = Task { try await pair.client.drained() }
                    if number % 2 == 0 { await Task.yield() }
                    wait.cancel()
                    drain.cancel()
                    #expect(try await wait.value == nil)
                    await #expect(throws: CancellationError.self) { try await drain.value }
                }
                #expect(openDescriptorCount() == before)
                #expect(waitCount(of: pair.client) == 0)
                pair.close()
                listener.invalidate()
            }
        }
    }
}

private func listen(
    _ loop: UVRunLoop,
    _ options: SocketPort.ListenOptions = SocketPort.ListenOptions()
) throws -> (SocketPort, SocketAddress) {
    let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0), options: options)
    loop.add(listener, forMode: .common)
    return (listener, try #require(listener.localAddress))
}

private func next(of listener: SocketPort) async throws -> SocketPort? {
    var connections = listener.connections.makeAsyncIterator()
    return try await connections.next()
}

private func openCount(of listener: SocketPort) -> Int? {
    guard case .listener(let receiver) = listener.role else { return nil }
    return receiver.limiter.count
}

private func waitCount(of port: SocketPort) -> Int {
    guard case .stream(let receiver) = port.role else { return 0 }
    return receiver.state.withLock { $0.tasks.first?.waits.count ?? 0 }
}

private func refuseToWatchAListener() throws {
    try withLoop { loop in
        let log = EventLog()
        let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0))
        let connections = listener.connections
        loop.add(listener, forMode: .default)
        loop.add(UVRunLoop.Source { _ in }, forMode: .default)
        refuseWatching(listener.link.descriptor)
        Task {
            do {
                for try await _ in connections { log.note("accepted") }
            } catch let error as UVRunLoop.SocketError {
                log.note("\(error.underlying == UVError(rawValue: -ENOSPC)) \(listener.isValid)")
            }
            for try await _ in connections { log.note("accepted") }
            loop.perform { loop.stop() }
        }
        precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        precondition(log.entries == ["true false"], "\(log.entries)")
    }
}
