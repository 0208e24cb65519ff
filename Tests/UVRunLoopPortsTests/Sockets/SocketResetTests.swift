import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Connections that are reset, by the peer or by this side.
@Suite(.timeLimit(.minutes(15))) struct SocketResetTests {
    /// The call that notices the peer's reset first.
    enum Notice: CaseIterable, Sendable {
        case read, send, queue, endSending, invalidateWhenDrained
    }

    private func withPeer(
        at address: SocketAddress,
        _ body: (UVRunLoop, SocketPort, Peer, StreamLog) throws -> Void
    ) throws {
        try withLoop { loop in
            let listener = try PlainListener(at: address)
            let log = StreamLog()
            let port = try SocketPort(connectingTo: listener.address) { log.gather($1) }
            loop.add(port, forMode: .default)
            loop.run { log.count == 1 }
            try body(loop, port, listener.accept(), log)
            port.invalidate()
        }
    }

    /// Has the peer write and then reset the connection.
    private func reset(_ peer: Peer, after port: SocketPort) {
        // A Unix-domain socket that is closed with unread input resets the connection.
        port.send("unread".utf8)
        peer.write("truncated")
        peer.reset()
    }

    @Test(arguments: Notice.allCases)
    func afterAResetNobodyIsToldOfAnEnd(notice: Notice) throws {
        let place = Place()
        for address in [SocketAddress.ipv4Loopback(port: 0), .unix(place.path + "/socket")] {
            try withPeer(at: address) { loop, port, peer, log in
                if notice == .queue {
                    while port.queuedBytes == 0 { port.send(sampleBytes(500_000)) }
                }
                reset(peer, after: port)
                switch notice {
                case .read, .queue: break
                case .send: while port.send([1]) { usleep(100) }
                case .endSending: port.endSending()
                case .invalidateWhenDrained: port.invalidateWhenDrained()
                }
                loop.run { !port.isValid }
                let expected = ["connected", "failed: the peer dropped the connection"]
                #expect(log.entries == expected, "\(address)")
                if notice != .invalidateWhenDrained {
                    #expect(log.received == Array("truncated".utf8), "\(address)")
                }
            }
        }
    }

    /// The kernel reports nothing more after the end was read.
    @Test(arguments: [true, false])
    func aResetThatCameBeforeTheEndWasReadIsTold(isPaused: Bool) throws {
        try withPeer(at: .ipv4Loopback(port: 0)) { loop, port, peer, log in
            if isPaused { port.pauseReading() }
            peer.write("whole")
            peer.endSending()
            peer.reset()
            usleep(1_000)
            if isPaused { port.resumeReading() }
            loop.run { !port.isValid }
            #expect(log.entries == ["connected", "ended", "failed: the peer takes no more"])
            #expect(log.received == Array("whole".utf8))
        }
    }

    @Test func anEndThatCameBeforeTheResetIsTold() throws {
        try withPeer(at: .ipv4Loopback(port: 0)) { loop, port, peer, log in
            port.send("unread".utf8)
            peer.write("whole")
            peer.endSending()
            peer.reset()
            while port.send([1]) { usleep(100) }
            loop.run { !port.isValid }
            let expected = ["connected", "ended", "failed: the peer takes no more"]
            #expect(log.entries == expected)
            #expect(log.received == Array("whole".utf8))
        }
    }

    /// The reason why a port does not read, so that a read cannot find the hang-up.
    enum Silence: CaseIterable, Sendable {
        case paused, draining
    }

    @Test(arguments: Silence.allCases)
    func aHangUpBeforeTheHandlerKnowsOfTheConnectionIsFoundWithoutReading(
        silence: Silence
    ) throws {
        let place = Place()
        let listener = try PlainListener(at: .unix(place.path + "/socket"))
        try withLoop { loop in
            let log = StreamLog()
            let port = try SocketPort(connectingTo: listener.address) { log.gather($1) }
            while port.queuedBytes == 0 { port.send(sampleBytes(500_000)) }
            switch silence {
            case .paused: port.pauseReading()
            case .draining: port.invalidateWhenDrained()
            }
            listener.accept().close()
            loop.add(port, forMode: .default)
            #expect(loop.run(for: .seconds(60)) == .finished)
            let expected = ["connected", "failed: the peer dropped the connection"]
            #expect(log.entries == expected)
            port.invalidate()
        }
    }

    // MARK: Resets by this side

    @Test func aQueueThatOverflowsResetsTheConnection() throws {
        try withPeer(at: .ipv4Loopback(port: 0)) { loop, port, peer, _ in
            port.maximumQueuedBytes = 100_000
            while port.send(sampleBytes(30_000)) {}
            loop.run { !port.isValid }
            #expect(peer.readAll().end == .reset)
        }
    }

    @Test func anOverflowThatNobodyIsToldOfResetsTheConnectionToo() throws {
        try withPeer(at: .ipv4Loopback(port: 0)) { loop, port, peer, _ in
            port.maximumQueuedBytes = 100_000
            while port.send(sampleBytes(30_000)) {}
            port.invalidate()
            #expect(peer.readAll().end == .reset)
        }
    }

    @Test func aUnixPeerLearnsOfAnOverflowIfSomethingOfItsIsUnread() throws {
        let place = Place()
        try withPeer(at: .unix(place.path + "/socket")) { loop, port, peer, _ in
            port.maximumQueuedBytes = 100_000
            while port.send(sampleBytes(30_000)) {}
            peer.write("unread")
            loop.run { !port.isValid }
            #expect(peer.readAll().end == .reset)
        }
    }

    @Test func closingWithAQueueResetsTheConnection() throws {
        try withPeer(at: .ipv4Loopback(port: 0)) { _, port, peer, _ in
            while port.queuedBytes == 0 { port.send(sampleBytes(500_000)) }
            port.invalidate()
            #expect(peer.readAll().end == .reset)
        }
    }

    @Test func aPortThatIsReleasedWithAQueueResetsTheConnection() throws {
        let listener = try PlainListener(at: .ipv4Loopback(port: 0))
        var port: SocketPort? = try SocketPort(connectingTo: listener.address) { _, _ in }
        port?.send("queued until the loop runs".utf8)
        let peer = listener.accept()
        port = nil
        #expect(peer.readAll().end == .reset)
    }

    @Test func closingWithNothingQueuedIsAnEnd() throws {
        try withPeer(at: .ipv4Loopback(port: 0)) { _, port, peer, _ in
            port.send("all".utf8)
            port.invalidate()
            let (bytes, end) = peer.readAll()
            #expect(bytes == Array("all".utf8) && end == .end)
        }
    }
}
