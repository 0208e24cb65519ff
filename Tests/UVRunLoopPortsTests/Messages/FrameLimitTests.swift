import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// The time limit of one message.
@Suite(.timeLimit(.minutes(15))) struct FrameLimitTests {
    @Test(arguments: [10, 24, 30])
    func aFrameWhoseRestHasArrivedAtItsLimitIsReceived(beginning: Int) throws {
        let pair = try ConnectedPair()
        // The rest takes several reads.
        let frame = Frame.message(1, sampleBytes(150_000))
        let limit = try pair.beginFrame(frame, beginning)
        pair.peer.write(Array(frame.head().dropFirst(beginning)))
        #expect(!pair.isOverdue(at: limit))
        // Its time is over; only bytes count.
        #expect(!pair.isOverdue(at: limit + 3_600_000_000_000))
        while pair.unreadByteCount > 65_536 { #expect(pair.receive() == .incomplete) }
        #expect(pair.receive() == .frame(frame))
        // The next frame has a limit of its own.
        let nextLimit = try pair.beginFrame(frame, 30)
        #expect(nextLimit >= limit && nextLimit < .max)
        #expect(pair.isOverdue(at: nextLimit))
    }

    @Test(arguments: [10, 24, 30])
    func aFrameOfWhichAByteIsMissingAtItsLimitEndsItsConnection(beginning: Int) throws {
        let pair = try ConnectedPair()
        let bytes = Frame.message(1, sampleBytes(150_000)).head()
        let limit = try pair.beginFrame(Frame.message(1, sampleBytes(150_000)), beginning)
        pair.peer.write(Array(bytes[beginning..<bytes.count - 1]))
        #expect(!pair.isOverdue(at: limit))
        while pair.unreadByteCount > 65_536 { #expect(pair.receive() == .incomplete) }
        #expect(pair.receive() == .ended)
    }

    @Test func bytesThatArriveAfterTheLimitDoNotProlongAFrame() throws {
        let pair = try ConnectedPair()
        let limit = try pair.beginFrame(Frame.message(1, sampleBytes(1_000)), 30)
        pair.peer.write([1])
        #expect(!pair.isOverdue(at: limit))
        pair.peer.write([2])
        #expect(pair.receive() == .ended)
    }

    /// A port whose task has not taken the latest message reads no others.
    @Test func aFrameThatMayNotBeReadAtItsLimitHasMoreTime() throws {
        let pair = try ConnectedPair()
        let frame = Frame.message(1, sampleBytes(100))
        let limit = try pair.beginFrame(frame, 30)
        pair.peer.write(Array(frame.head()[30..<40]))
        #expect(!pair.isOverdue(at: limit, mayRead: false))
        #expect(pair.deadline == limit + 30_000_000_000)
        #expect(pair.receive() == .incomplete)
        #expect(pair.isOverdue(at: limit + 30_000_000_000, mayRead: false))
    }

    @Test func aFrameOfWhichNothingHasArrivedAtItsLimitIsOverdue() throws {
        let pair = try ConnectedPair()
        let limit = try pair.beginFrame(Frame.message(1, sampleBytes(1_000)), 30)
        #expect(!pair.isOverdue(at: limit - 1))
        #expect(pair.isOverdue(at: limit))
    }

    /// The socket would tell only when the peer has read most of it.
    @Test func aPeerThatReadsItsReplyHasMoreTime() throws {
        let pair = try ConnectedPair()
        pair.send(Frame.reply(1, sampleBytes(1 << 20)))
        var limit = try #require(pair.deadline)
        for _ in 0..<2 {
            #expect(pair.peer.read(40_000).count == 40_000)
            #expect(!pair.isOverdue(at: limit))
            let next = try #require(pair.deadline)
            #expect(next == limit + 30_000_000_000)
            limit = next
        }
        #expect(!pair.isOverdue(at: limit - 1))
        #expect(pair.isOverdue(at: limit))
    }

    /// The peers could go on for longer than their bound, which is 200 times the limit.
    @Test func slowPeersEndAtTheLimit() throws {
        let place = Place()
        var limits = MessagePort.Limits()
        limits.frameTimeLimit = .milliseconds(100)
        let server = try PortServer(place, limits: limits) { _, _ in nil }
        let haveEnded = Guarded<[Bool]>([])
        let peers = (0..<8).map { _ in
            startThread {
                let hasEnded = (try? sendSlowly(to: place, for: .seconds(20))) ?? false
                haveEnded.withLock { $0.append(hasEnded) }
            }
        }
        for peer in peers { peer.join() }
        #expect(haveEnded.withLock { $0.count { $0 } } == 8)
        server.stop()
    }

    @Test(.enabled(if: hasMemory(for: 1 << 32), "The machine refuses 4 GiB that nobody touches."))
    func aReplyThatNoFrameCanHoldIsTooLarge() throws {
        let place = Place()
        var limits = MessagePort.Limits()
        limits.maximumMessageSize = .max
        let server = try PortServer(place, limits: limits) { _, _ in
            [UInt8](unsafeUninitializedCapacity: 1 << 32) { $1 = 1 << 32 }
        }
        try onAnotherThread {
            let remote = try place.remote()
            #expect(throws: MessagePortError.messageTooLarge) { try remote.request() }
        }
        server.stop()
    }

    @Test func aMessageThatArrivedWhileTheLoopWasBusyPastTheLimitIsDelivered() throws {
        let place = Place()
        var limits = MessagePort.Limits()
        limits.frameTimeLimit = .milliseconds(50)
        let (isBusy, mayGoOn) = (Signal(), Signal())
        let server = try PortServer(place, limits: limits) { _, message in
            if message.id == 1 {
                isBusy.send()
                mayGoOn.wait()
            }
            return message.data
        }
        let second = Frame.request(1, 2, sampleBytes(100_000)).head()
        let peer = try place.rawSocket()
        // The loop reads this first, so that the limit starts.
        peer.write(Array(second.prefix(30)))
        let other = try place.rawSocket()
        other.write(Frame.message(1, []).head())
        isBusy.wait()
        peer.write(Array(second.dropFirst(30)))
        letTimePass(.milliseconds(100))
        mayGoOn.send()
        #expect(peer.readFrame() == .reply(1, sampleBytes(100_000)))
        server.stop()
    }
}

/// Sends a large message a byte at a time, so that nearly always some bytes are unread.
///
/// - Returns: Whether the other side ended the connection before the time was over.
private func sendSlowly(to place: Place, for longest: Duration) throws -> Bool {
    let peer = try place.rawSocket()
    peer.write(Array(Frame.message(1, sampleBytes(16 << 20)).head().prefix(24)))
    let end = UVRunLoop.Instant.now + longest
    while peer.write([1]) {
        if end < .now { return false }
    }
    return true
}

/// A connection of a local port that no loop serves, and its peer.
private final class ConnectedPair {
    enum Input: Equatable {
        case frame(Frame)
        case incomplete, ended
    }

    let peer: RawPeer
    private let place = Place()
    private var connection: Connection

    init(_ limits: MessagePort.Limits = .init()) throws {
        let listener = try place.rawListener()
        peer = try place.rawSocket()
        let socket = try listener.accept().socket
        connection = Connection(socket, try socket.descriptor.peerCredentials(), limits)
    }

    var unreadByteCount: Int { connection.socket.descriptor.unreadByteCount }

    /// Sends and receives the first bytes of a frame, and returns its limit.
    func beginFrame(_ frame: Frame, _ count: Int) throws -> Int64 {
        peer.write(Array(frame.head().prefix(count)))
        #expect(receive() == .incomplete)
        return try #require(connection.deadline)
    }

    func send(_ frame: Frame) { connection.send(frame) }

    func receive() -> Input {
        switch connection.receive() {
        case .frame(let frame): .frame(frame)
        case .incomplete: .incomplete
        case .ended: .ended
        }
    }

    var deadline: Int64? { connection.deadline }

    func isOverdue(at now: Int64, mayRead: Bool = true) -> Bool {
        connection.isOverdue(at: now, mayRead: mayRead)
    }
}
