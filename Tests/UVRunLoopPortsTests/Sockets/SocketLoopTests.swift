import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Ports as sources of a loop.
@Suite(.timeLimit(.minutes(15))) struct SocketLoopTests {
    private let other = UVRunLoop.Mode("other")

    @Test func whatComesWhileAnotherModeRunsIsHeld() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let peer = try Peer(connectingTo: server.address)
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            #expect(loop.run(mode: other, for: .milliseconds(5)) == .timedOut)
            #expect(server.connections.isEmpty)
            loop.run { server.connections.count == 1 }
            peer.write("held")
            let result = loop.run(
                mode: other,
                for: .milliseconds(5),
                returnAfterSourceHandled: true
            )
            #expect(result == .timedOut)
            #expect(server.log.entries == [])
            loop.run { server.log.count == 1 }
            #expect(server.log.entries == ["received held"])
            server.close()
        }
    }

    @Test func aQueueIsSentInTheModesOfThePortOnly() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let peer = try Peer(connectingTo: server.address)
            loop.run { server.connections.count == 1 }
            let port = server.connection
            while port.queuedBytes < 1_000_000 { port.send(sampleBytes(500_000)) }
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            let queued = port.queuedBytes
            let reader = Reader(peer, count: nil) { _ in }
            loop.run(mode: other, for: .milliseconds(10))
            #expect(port.queuedBytes == queued)
            loop.run { port.queuedBytes == 0 }
            server.close()
            reader.join()
        }
    }

    @Test func anEventIsAHandledSource() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let peer = try Peer(connectingTo: server.address)
            #expect(loop.run(for: .seconds(60), returnAfterSourceHandled: true) == .handledSource)
            peer.write("x")
            #expect(loop.run(for: .seconds(60), returnAfterSourceHandled: true) == .handledSource)
            #expect(server.log.entries == ["received x"])
            server.close()
        }
    }

    @Test func sendingAQueueIsNoHandledSource() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let peer = try Peer(connectingTo: server.address)
            loop.run { server.connections.count == 1 }
            let port = server.connection
            port.highMark = .max
            while port.queuedBytes == 0 { port.send(sampleBytes(500_000)) }
            let reader = Reader(peer, count: nil) { _ in }
            let limit = UVRunLoop.Instant.now + .seconds(120)
            while port.queuedBytes > 0, UVRunLoop.Instant.now < limit {
                let result = loop.run(for: .milliseconds(20), returnAfterSourceHandled: true)
                #expect(result == .timedOut)
            }
            #expect(port.queuedBytes == 0)
            server.close()
            reader.join()
        }
    }

    @Test func aPortKeepsItsModeAliveUntilItIsInvalid() throws {
        try withLoop { loop in
            let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in }
            loop.add(listener, forMode: .default)
            #expect(loop.run(for: .milliseconds(2)) == .timedOut)
            listener.invalidate()
            #expect(loop.run(for: .milliseconds(2)) == .finished)
        }
    }

    @Test func hundredsOfIdleConnectionsCostAPassNothing() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let peers = try (0..<200).map { _ in try Peer(connectingTo: server.address) }
            loop.run { server.connections.count == 200 }
            let log = EventLog()
            let observer = UVRunLoop.Observer(activities: .beforeWaiting) { _, _ in log.note("") }
            loop.add(observer, forMode: .default)
            #expect(loop.run(for: .milliseconds(20)) == .timedOut)
            #expect(log.count == 1)
            peers[150].write("busy")
            loop.run { server.log.count == 1 }
            #expect(server.log.entries == ["received busy"])
            // An optimised build would release the others, and so hang up, after their last use.
            withExtendedLifetime(peers) {}
            server.close()
        }
    }

    @Test func anotherThreadMayInvalidateAPort() throws {
        try withLoop { loop in
            let server = try Server(loop)
            let peer = try Peer(connectingTo: server.address)
            loop.run { server.connections.count == 1 }
            let port = server.connection
            let listener = server.listener
            let helper = startUncheckedThread {
                awaitSleep(of: loop)
                port.invalidate()
                listener.invalidate()
            }
            #expect(loop.run(for: .seconds(60)) == .finished)
            helper.join()
            #expect(peer.readToTheEnd() == [])
        }
    }

    @Test func aConnectionMayBeServedByAnotherThreadsLoop() throws {
        try withLoop { loop in
            let log = EventLog()
            let worker = Guarded<RunningThread?>(nil)
            let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { listener, event in
                guard case .accepted(let port) = event else { return }
                let thread = startUncheckedThread {
                    port.setHandler { port, event in
                        log.note(event)
                        if case .ended = event { port.invalidate() }
                    }
                    UVRunLoop.current.add(port, forMode: .default)
                    #expect(UVRunLoop.current.run(for: .seconds(60)) == .finished)
                }
                worker.withLock { $0 = thread }
                listener.invalidate()
            }
            loop.add(listener, forMode: .default)
            let peer = try Peer(connectingTo: try #require(listener.localAddress))
            #expect(loop.run(for: .seconds(60)) == .finished)
            peer.write("there")
            while log.count == 0 { usleep(1000) }
            peer.endSending()
            worker.withLock { $0 }?.join()
            #expect(log.entries == ["received there", "ended"])
        }
    }

    @Test func aConnectionWithoutAHandlerMayNotBeAdded() async {
        await #expect(processExitsWith: .failure) { addWithoutAHandler() }
    }

    @Test func aListenerMayNotBeSentTo() async {
        await #expect(processExitsWith: .failure) { sendToAListener() }
    }

    @Test func aHandlerMayNotBeChangedInALoop() async {
        await #expect(processExitsWith: .failure) { changeAHandler() }
    }
}

private func addWithoutAHandler() {
    let loop = UVRunLoop.current
    let listener = try? SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, event in
        if case .accepted(let port) = event { loop.add(port, forMode: .default) }
    }
    guard let listener, let address = listener.localAddress else { exit(0) }
    loop.add(listener, forMode: .default)
    guard let peer = try? Peer(connectingTo: address) else { exit(0) }
    loop.run(for: .seconds(60))
    peer.close()
    exit(0)
}

private func sendToAListener() {
    let listener = try? SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in }
    listener?.send([1])
    exit(0)
}

private func changeAHandler() {
    let listener = try? SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in }
    guard let listener else { exit(0) }
    UVRunLoop.current.add(listener, forMode: .default)
    listener.setHandler { _, _ in }
    exit(0)
}
