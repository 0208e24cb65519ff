import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The ends of connections.
@Suite(.timeLimit(.minutes(15))) struct SocketEndTests {
    private func withConnection(
        at address: SocketAddress = .ipv4Loopback(port: 0),
        _ handler: @escaping (SocketPort, SocketPort.Event) -> Void,
        _ body: (UVRunLoop, SocketPort, Peer) throws -> Void
    ) throws {
        try withLoop { loop in
            let server = try Server(loop, at: address, handler: handler)
            let peer = try Peer(connectingTo: server.address)
            loop.run { !server.connections.isEmpty }
            loop.remove(server.listener, forMode: .default)
            try body(loop, server.connection, peer)
            server.close()
        }
    }

    /// The other thread ends sending as soon as the loop has read the end, before that is told.
    @Test func aPeersEndIsToldThoughAnotherThreadEndsTheConnectionMeanwhile() throws {
        let thread = try UVRunLoop.Thread()
        let listener = try PlainListener(at: .ipv4Loopback(port: 0))
        for round in 0..<1_000 {
            let story = SharedBox((isConnected: false, endings: 0))
            let port = try SocketPort(
                connectingTo: listener.address,
                sendableHandler: { _, event in
                    switch event {
                    case .connected: story.value.isConnected = true
                    case .ended, .failed: story.value.endings += 1
                    default: break
                    }
                }
            )
            thread.runLoop.add(port, forMode: .default)
            let peer = listener.accept()
            while !story.value.isConnected { sched_yield() }
            peer.endSending()
            while !port.stream.state.withLock({ $0.lifecycle.peerDidEnd }) {}
            port.endSending()
            while port.isValid { sched_yield() }
            // The call may still be under way.
            try thread.runLoop.performAndWait {}
            #expect(story.value.endings == 1, "round \(round)")
        }
        thread.stop()
        thread.join()
    }

    /// The kernel says that there is nothing to read, where a hang-up was told too early.
    @Test func anEndThatIsNotThereYetIsToldLater() async {
        await #expect(processExitsWith: .success) {
            endProcess(after: 60)
            try onAnotherThread {
                let folder = TemporaryFolder()
                let (loop, log) = (UVRunLoop.current, EventLog())
                let failsNext = Guarded(false)
                let server = try Server(loop, at: .unix(folder.path + "/socket")) { _, event in
                    log.note(event)
                    if case .received = event { failsNext.withLock { $0 = true } }
                }
                let peer = try Peer(connectingTo: server.address)
                loop.run { !server.connections.isEmpty }
                loop.remove(server.listener, forMode: .default)
                peer.write("x")
                peer.close()
                intercept([.read]) {
                    failsNext.withLock { fails in
                        defer { fails = false }
                        return fails ? EAGAIN : 0
                    }
                }
                loop.run(mode: .default, for: .seconds(50))
                precondition(log.entries.last == "ended", "\(log.entries)")
                precondition(failsNext.withLock { !$0 })
                server.close()
            }
        }
    }

    @Test func thePeersEndIsToldOnceAndSendingGoesOn() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            peer.write("question")
            peer.endSending()
            loop.run { log.count == 2 }
            #expect(loop.run(for: .milliseconds(5), returnAfterSourceHandled: true) == .timedOut)
            #expect(log.entries == ["received question", "ended"])
            port.send("answer".utf8)
            #expect(port.isValid)
            port.endSending()
            #expect(!port.isValid)
            #expect(peer.readToTheEnd() == Array("answer".utf8))
            #expect(loop.run(for: nil) == .finished)
        }
    }

    @Test func whileAPortDrainsOnlyItsQueueIsTold() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            port.send(sampleBytes(8 << 20))
            port.invalidateWhenDrained()
            peer.write("not read")
            let reader = startUncheckedThread {
                _ = peer.readToTheEnd()
                peer.close()
            }
            loop.run { !port.isValid }
            reader.join()
            #expect(log.entries == ["drained"])
        }
    }

    @Test func ourEndFollowsTheQueueAndReadingGoesOn() throws {
        let log = StreamLog()
        try withConnection { _, event in
            log.gather(event)
        } _: { loop, port, peer in
            let bytes = sampleBytes(3 << 20)
            port.send(bytes)
            port.endSending()
            #expect(!port.send([1]))
            let received = Guarded<[UInt8]>([])
            let reader = startUncheckedThread {
                let all = peer.readToTheEnd()
                received.withLock { $0 = all }
                peer.write("thanks")
                peer.close()
            }
            loop.run { !port.isValid }
            reader.join()
            let isWhole = received.withLock { $0 } == bytes
            #expect(isWhole)
            #expect(log.received == Array("thanks".utf8))
            #expect(log.entries == ["ended"])
            #expect(loop.run(for: nil) == .finished)
        }
    }

    @Test func aUnixPeerThatClosesHasEnded() throws {
        let place = Place()
        let log = EventLog()
        try withConnection(at: .unix(place.path + "/socket")) { _, event in
            log.note(event)
        } _: { loop, port, peer in
            peer.write("last words")
            peer.close()
            loop.run { log.count == 2 }
            #expect(loop.run(for: .milliseconds(5), returnAfterSourceHandled: true) == .timedOut)
            #expect(!port.send([1]))
            loop.run { log.count == 3 }
            let expected = ["received last words", "ended", "failed: the peer takes no more"]
            #expect(log.entries == expected)
            #expect(loop.run(for: nil) == .finished)
        }
    }

    @Test func aResetIsAFailureAfterWhatWasSentBefore() throws {
        let log = StreamLog()
        try withConnection { _, event in
            log.gather(event)
        } _: { loop, port, peer in
            let bytes = sampleBytes(40_000)
            peer.write(bytes)
            peer.reset()
            loop.run { log.count > 0 }
            let isWhole = log.received == bytes
            #expect(isWhole)
            #expect(log.entries == ["failed: the peer dropped the connection"])
            #expect(!port.isValid)
        }
    }

    @Test func aResetWhileReadingIsPausedIsToldAfterResuming() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            port.pauseReading()
            peer.write("before")
            peer.reset()
            #expect(loop.run(for: .milliseconds(10), returnAfterSourceHandled: true) == .timedOut)
            port.resumeReading()
            expectBytesThenReset(log, loop)
        }
    }

    @Test func aResetWithAQueueIsToldAfterTheBytesThatCameBefore() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            port.pauseReading()
            peer.write("before")
            while port.queuedBytes == 0 { port.send(sampleBytes(500_000)) }
            peer.reset()
            while port.send([1]) { loop.run(for: .milliseconds(1)) }
            // The failure is known, and does not end a sleep.
            #expect(loop.run(for: .milliseconds(10), returnAfterSourceHandled: true) == .timedOut)
            #expect(log.entries == [] && port.isValid)
            port.resumeReading()
            expectBytesThenReset(log, loop)
        }
    }

    @Test func aResetWithAQueueIsToldThoughReadingIsPaused() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            port.pauseReading()
            while port.queuedBytes == 0 { port.send(sampleBytes(500_000)) }
            peer.reset()
            loop.run { log.count > 0 }
            #expect(log.count == 1 && log.entries[0].hasPrefix("failed"))
        }
    }

    @Test func sendingToAPeerThatIsGoneNeverKillsTheProcess() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            peer.close()
            loop.run { log.count == 1 }
            // The first send is answered with a reset, later ones fail.
            for _ in 0..<100 where port.send([1]) { usleep(1000) }
            loop.run { log.count == 2 }
            #expect(log.entries.first == "ended")
            #expect(log.entries.last == "failed: the peer takes no more")
        }
    }

    @Test func closingAfterTheQueueSendsAllOfIt() throws {
        let log = EventLog()
        try withConnection { _, event in
            log.note(event)
        } _: { loop, port, peer in
            let bytes = sampleBytes(4 << 20)
            port.send(bytes)
            port.invalidateWhenDrained()
            #expect(port.isValid)
            let received = Guarded<[UInt8]>([])
            let reader = startUncheckedThread {
                let all = peer.readToTheEnd()
                received.withLock { $0 = all }
            }
            #expect(loop.run(for: .seconds(60)) == .finished)
            reader.join()
            let isWhole = received.withLock { $0 } == bytes
            #expect(isWhole && !port.isValid)
            #expect(!log.entries.contains { $0.hasPrefix("failed") })
        }
    }

    @Test func closingAfterAnEmptyQueueIsClosingNow() throws {
        try withConnection { _, _ in
        } _: { _, port, peer in
            port.send("bye".utf8)
            port.invalidateWhenDrained()
            #expect(!port.isValid)
            #expect(peer.readToTheEnd() == Array("bye".utf8))
        }
    }

    @Test func aHandlerThatInvalidatesItsPortIsCalledNoMore() throws {
        let log = EventLog()
        try withConnection { port, event in
            log.note(event)
            port.invalidate()
            port.send([1])
        } _: { loop, port, peer in
            peer.write("one")
            loop.run { log.count > 0 }
            #expect(log.entries == ["received one"])
            #expect(!port.isValid && port.localAddress == nil)
            #expect(loop.run(for: nil) == .finished)
            #expect(peer.readToTheEnd() == [])
        }
    }

    @Test func anInvalidPortLetsItsHandlerGo() throws {
        final class Token {}
        weak var token: Token?
        try withLoop { loop in
            let kept = Token()
            token = kept
            let listener = try SocketPort(listeningAt: .ipv4Loopback(port: 0)) { _, _ in
                withExtendedLifetime(kept) {}
            }
            loop.add(listener, forMode: .default)
            listener.invalidate()
        }
        #expect(token == nil)
    }
}

/// Expects the bytes that came before a reset, and then the reset.
private func expectBytesThenReset(_ log: EventLog, _ loop: UVRunLoop) {
    loop.run { log.count == 2 }
    #expect(log.entries == ["received before", "failed: the peer dropped the connection"])
}
