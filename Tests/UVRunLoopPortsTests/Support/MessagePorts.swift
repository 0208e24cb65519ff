import Glibc
// Every suite that uses this folder uses it too.
@_exported import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

typealias Message = MessagePort.Message
typealias Local = MessagePort.Local
typealias Remote = MessagePort.Remote

extension UVRunLoop.Mode {
    /// The mode in which the tests wait for replies.
    static let reply = UVRunLoop.Mode("reply")
}

extension Place {
    /// A local port in this directory.
    func local(
        _ name: String = "port",
        limits: MessagePort.Limits = .init(),
        acceptPeer: MessagePort.PeerPolicy? = nil,
        _ handler: @escaping @Sendable (Local, Message) -> [UInt8]?
    ) throws -> Local {
        try Local.port(
            PortName(name),
            in: directory(),
            order: 0,
            limits: limits,
            acceptPeer: acceptPeer,
            handler: HomeBound(sendable: handler)
        )
    }

    func remote(
        _ name: String = "port",
        replyLimit: Int = 16 << 20,
        acceptPeer: MessagePort.PeerPolicy? = nil
    ) throws(MessagePortError) -> Remote {
        try Remote.connected(
            to: PortName(name),
            in: directory(),
            replyLimit: replyLimit,
            acceptPeer: acceptPeer
        )
    }

    /// A connection without the library's client side.
    func rawSocket(_ name: String = "port") throws -> RawPeer {
        let files = try directory().files(of: PortName(name))
        return RawPeer(try PortConnector.connect(to: files).socket)
    }

    /// Listens under a name, without the library's server side.
    func rawListener(_ name: String = "port") throws -> RawListener {
        let claim = try NameClaim(directory().files(of: PortName(name)))
        return RawListener(claim: claim, socket: SharedSocket(try claim.listen(backlog: 16)))
    }
}

extension Place {
    /// A remote port, its connection, and the other side, which is served by the test.
    func connected() throws -> (RemoteConnection, RawPeer, Remote) {
        let listener = try rawListener()
        let remote = try remote()
        return (remote.connection, try listener.accept(), remote)
    }
}

extension Remote {
    @discardableResult
    func request(
        _ data: [UInt8] = [],
        id: Int32 = 0,
        sendLimit: Duration = .seconds(30),
        receiveLimit: Duration = .seconds(30),
        mode: UVRunLoop.Mode = .reply
    ) throws(MessagePortError) -> [UInt8]? {
        try send(
            id: id,
            data: data,
            sendLimit: sendLimit,
            receiveLimit: receiveLimit,
            replyMode: mode
        )
    }
}

struct RawListener {
    let claim: NameClaim
    let socket: SharedSocket

    func accept() throws -> RawPeer {
        while true {
            socket.descriptor.wait(forWriting: false, until: .max)
            if let found = try socket.descriptor.accept() { return RawPeer(SharedSocket(found)) }
        }
    }
}

/// One end of a connection, for raw bytes.
struct RawPeer {
    let socket: SharedSocket

    init(_ socket: SharedSocket) { self.socket = socket }

    /// Sends all bytes, waiting for room; `false` if the other side is gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            do {
                if let count = try socket.descriptor.send(bytes[start...]) {
                    start += count
                } else {
                    socket.descriptor.wait(forWriting: true, until: .max)
                    usleep(100)
                }
            } catch {
                return false
            }
        }
        return true
    }

    /// Reads until the other side closes, or this many bytes have arrived.
    func read(_ count: Int = .max) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            socket.descriptor.wait(forWriting: false, until: Duration.seconds(30).fromNow)
            var piece = [UInt8](repeating: 0, count: min(count - bytes.count, 65_536))
            let size = Glibc.read(socket.descriptor.number, &piece, piece.count)
            guard size > 0 else { break }
            bytes += piece[..<size]
        }
        return bytes
    }

    /// The next frame; `nil` if the other side closes first.
    func readFrame() -> Frame? {
        var head = read(24)
        guard head.count == 24 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(head[12 + $1]) << (8 * $1) } + Int(head[7])
        if length > 0 { head += read(length) }
        let side: FrameSide = head[5] <= 2 ? .local : .remote
        var parser = FrameParser(side: side, maximumPayload: .max)
        var input = head[...]
        return try? parser.next(from: &input)
    }
}

/// A thread whose loop serves a port until the server is stopped.
final class PortServer: Sendable {
    private let loop = Guarded<UVRunLoop?>(nil)
    private let thread = Guarded<RunningThread?>(nil)

    /// Starts the server with the port that `make` returns, called on its thread.
    init(_ make: @escaping @Sendable () throws -> Local) throws {
        let ready = Signal()
        let failure = Guarded<(any Error)?>(nil)
        let started = startThread {
            do {
                let port = try make()
                let loop = UVRunLoop.current
                loop.add(port, forMode: .default)
                self.loop.withLock { $0 = loop }
                ready.send()
                loop.run()
                port.invalidate()
            } catch {
                failure.withLock { $0 = error }
                ready.send()
            }
        }
        thread.withLock { $0 = started }
        ready.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    convenience init(
        _ place: Place,
        _ name: String = "port",
        limits: MessagePort.Limits = .init(),
        acceptPeer: MessagePort.PeerPolicy? = nil,
        _ handler: @escaping @Sendable (Local, Message) -> [UInt8]?
    ) throws {
        try self.init {
            try place.local(name, limits: limits, acceptPeer: acceptPeer, handler)
        }
    }

    /// Replies with each request's number, to those below `number` only after `told`.
    convenience init(_ place: Place, answeringBelow number: Int32, after told: Signal) throws {
        try self.init(place) { _, message in
            if message.id < number { told.wait() }
            return [UInt8(message.id)]
        }
    }

    func perform(_ block: @escaping @Sendable () -> Void) {
        loop.withLock { $0 }?.perform(block)
    }

    /// Stops the loop and waits for its thread.
    func stop() {
        guard let thread = thread.withLock({ $0.take() }) else { return }
        let loop = loop.withLock { $0 }
        loop?.perform { loop?.stop() }
        thread.join()
    }

    deinit { stop() }
}

extension Remote {
    @discardableResult
    func sendOneWay(
        _ data: [UInt8],
        _ id: Int32 = 0,
        replyPort: Local? = nil,
        limit: Duration = .seconds(30)
    ) throws(MessagePortError) -> [UInt8]? {
        try send(id: id, data: data, replyPort: replyPort, sendLimit: limit)
    }
}

extension RemoteConnection {
    /// Whether the socket accepts more.
    var hasRoom: Bool {
        guard let socket else { return true }
        var request = pollfd(fd: socket.descriptor.number, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, 0) > 0
    }
}

/// Sends the rest of a frame as another sender would, without giving way to other tests: the peer
/// does not wait for minutes.
func finishSending(_ queued: FrameQueue.ID, on connection: RemoteConnection) throws {
    for _ in 0..<60_000 {
        if try connection.trySending(queued) { return }
        usleep(1000)
    }
    throw Trouble("the peer does not read")
}
