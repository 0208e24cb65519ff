import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The memory that a local port uses for all of its peers together.
@Suite(.timeLimit(.minutes(15))) struct PortMemoryTests {
    /// Limits that permit six parts of 150,000 bytes but not seven.
    private static var limits: MessagePort.Limits {
        var limits = MessagePort.Limits()
        limits.maximumMessageSize = 200_000
        limits.maximumBufferedSize = 1_000_000
        return limits
    }

    /// An incomplete message.
    private static let part = Array(Frame.message(1, sampleBytes(200_000)).head().prefix(150_000))

    /// Runs the calling thread's loop until a port has this many connections.
    private func run(_ port: Local, untilConnections count: Int) {
        for _ in 0..<3_000 where port.connectionCount != count {
            UVRunLoop.current.run(mode: .default, for: .milliseconds(10))
        }
        #expect(port.connectionCount == count)
    }

    /// Runs the calling thread's loop until a peer is told that its connection ends.
    private func awaitEnd(ofOneOf peers: [RawPeer], _ port: Local) {
        while !peers.contains(where: { $0.socket.descriptor.unreadByteCount > 0 }) {
            UVRunLoop.current.run(mode: .default, for: .milliseconds(10))
        }
    }

    @Test func repliesThatNobodyTakesDoNotAddUpWithoutEnd() throws {
        let place = Place()
        try onAnotherThread {
            let reply = [UInt8](repeating: 1, count: 8 << 20)
            let port = try place.local { _, _ in reply }
            UVRunLoop.current.add(port, forMode: .default)
            var peers: [RawPeer] = []
            for _ in 0..<16 {
                let peer = try place.rawSocket()
                peer.write(Frame.request(1, 0, []).head())
                // The beginning of the reply has arrived.
                while peer.socket.descriptor.unreadByteCount == 0 {
                    UVRunLoop.current.run(mode: .default, for: .milliseconds(10))
                }
                peers.append(peer)
            }
            // 64 MiB by default: seven replies and their headers fit.
            #expect(port.connectionCount == 7)
            port.invalidate()
            withExtendedLifetime(peers) {}
        }
    }

    @Test func partsOfMessagesDoNotAddUpWithoutEnd() throws {
        let place = Place()
        try onAnotherThread {
            let port = try place.local(limits: Self.limits) { _, _ in nil }
            UVRunLoop.current.add(port, forMode: .default)
            let peers = try (0..<6).map { _ in try place.rawSocket() }
            let writers = peers.map { peer in startThread { peer.write(Self.part) } }
            run(port, untilConnections: 6)
            while peers.contains(where: { $0.unsentByteCount > 0 }) {
                UVRunLoop.current.run(mode: .default, for: .milliseconds(10))
            }
            for writer in writers { writer.join() }
            run(port, untilConnections: 6)
            // Small connections are not the ones that are closed.
            let small = try place.rawSocket()
            small.write(Frame.request(1, 7, []).head())
            run(port, untilConnections: 7)
            let last = try place.rawSocket()
            let writer = startThread { last.write(Self.part) }
            awaitEnd(ofOneOf: peers + [last], port)
            #expect(port.connectionCount == 7)
            #expect(small.readFrame() == .reply(1, nil))
            port.invalidate()
            writer.join()
            withExtendedLifetime((peers, last)) {}
        }
    }

    @Test func whoLosesItsConnectionToOthersNeedIsTold() throws {
        let place = Place()
        try onAnotherThread {
            let port = try place.local(limits: Self.limits) { _, _ in nil }
            UVRunLoop.current.add(port, forMode: .default)
            let errors = EventLog()
            // Eight messages, none of which can complete while the others are pending.
            let gate = Signal()
            let threads = (0..<8).map { _ in
                startThread {
                    guard let peer = try? place.rawSocket() else { return errors.note("no port") }
                    peer.write(Self.part)
                    if let frame = peer.readFrame() { errors.note("\(frame.id)") }
                    gate.wait()
                }
            }
            for _ in 0..<3_000 where errors.entries.count < 2 {
                UVRunLoop.current.run(mode: .default, for: .milliseconds(10))
            }
            #expect(errors.entries == ["5", "5"])
            #expect(MessagePortError(RefusalReason(rawValue: 5)) == .noRoomLeft)
            gate.send()
            port.invalidate()
            for thread in threads { thread.join() }
        }
    }

    /// An incomplete message is no longer counted once its connection ends.
    @Test func whatIsGoneTakesNoRoom() throws {
        let place = Place()
        try onAnotherThread {
            let reply = sampleBytes(150_000)
            let port = try place.local(limits: Self.limits) { _, _ in reply }
            UVRunLoop.current.add(port, forMode: .default)
            for round in 0..<30 {
                let peer = try place.rawSocket()
                peer.write(Array(Self.part.prefix(40_000)))
                if round % 2 == 0 { peer.write(sampleBytes(40_000)) }
                let other = try place.rawSocket()
                other.write(Frame.request(1, 0, []).head() + Array(Self.part.prefix(20_000)))
                run(port, untilConnections: 2)
                while other.socket.descriptor.unreadByteCount == 0 {
                    UVRunLoop.current.run(mode: .default, for: .milliseconds(10))
                }
                withExtendedLifetime((peer, other)) {}
            }
            run(port, untilConnections: 0)
            let peers = try (0..<6).map { _ in try place.rawSocket() }
            let writers = peers.map { peer in startThread { peer.write(Self.part) } }
            run(port, untilConnections: 6)
            while peers.contains(where: { $0.unsentByteCount > 0 }) {
                UVRunLoop.current.run(mode: .default, for: .milliseconds(10))
            }
            for writer in writers { writer.join() }
            run(port, untilConnections: 6)
            let last = try place.rawSocket()
            let writer = startThread { last.write(Self.part) }
            awaitEnd(ofOneOf: peers + [last], port)
            #expect(port.connectionCount == 6)
            port.invalidate()
            writer.join()
            withExtendedLifetime((peers, last)) {}
        }
    }

    @Test func oneMessageOfTheLargestSizeAlwaysHasRoom() throws {
        let place = Place()
        var limits = Self.limits
        limits.maximumBufferedSize = 0
        let server = try PortServer(place, limits: limits) { _, message in message.data }
        try onAnotherThread {
            let data = sampleBytes(200_000)
            let reply = try place.remote().request(data)
            #expect(reply == data)
        }
        server.stop()
    }

    @Test func limitsThatAreBeyondAllNumbersAreNone() throws {
        let place = Place()
        var limits = MessagePort.Limits()
        limits.maximumMessageSize = .max
        limits.maximumBufferedSize = .max
        limits.idleTimeLimit = .seconds(Int64.max)
        limits.frameTimeLimit = .seconds(Int64.max)
        let server = try PortServer(place, limits: limits) { _, message in message.data }
        try onAnotherThread {
            let reply = try place.remote().request([1])
            #expect(reply == [1])
        }
        server.stop()
    }
}

extension RawPeer {
    /// The number of written bytes that the other side has not read.
    fileprivate var unsentByteCount: Int {
        var count: CInt = 0
        _ = ioctl(socket.descriptor.number, UInt(TIOCOUTQ), &count)
        return Int(count)
    }
}
