import Glibc
import Synchronization

@testable import UVRunLoop
@testable import UVRunLoopPorts

typealias SocketPort = UVRunLoop.SocketPort
typealias SocketAddress = UVRunLoop.SocketAddress

/// Runs a body with a fresh loop as the calling thread's own.
func withPortLoop<Result>(_ body: (UVRunLoop) throws -> Result) throws -> Result {
    try UVRunLoop.withLoop(on: { word in try UVRunLoop.makeUVDriver(word) }, body)
}

extension UVRunLoop {
    /// Runs source by source until a condition holds; answers whether it does.
    @discardableResult
    func run(mode: Mode = .default, untilTrue condition: () -> Bool) -> Bool {
        let end = Instant.now + .seconds(30)
        while !condition() {
            let result = run(mode: mode, for: .seconds(5), returnAfterSourceHandled: true)
            if result == .finished || Instant.now > end { return condition() }
        }
        return true
    }
}

extension SocketPort.Event {
    /// The event in a word, and what it brought.
    var text: String {
        switch self {
        case .connected: "connected"
        case .accepted: "accepted"
        case .received(let bytes): "received " + String(decoding: bytes, as: UTF8.self)
        case .ended: "ended"
        case .drained: "drained"
        case .failed(let error): "failed: \(error.code)"
        }
    }
}

/// What ports told, in order.
final class SocketLog: Sendable {
    private let state = Mutex<(entries: [String], received: [UInt8])>(([], []))

    var entries: [String] { state.withLock { $0.entries } }
    var received: [UInt8] { state.withLock { $0.received } }
    var count: Int { state.withLock { $0.entries.count } }

    func note(_ entry: String) { state.withLock { $0.entries.append(entry) } }

    func note(_ event: SocketPort.Event) { note(event.text) }

    /// Keeps bytes as one stream, and notes every other event.
    func gather(_ event: SocketPort.Event) {
        if case .received(let bytes) = event {
            state.withLock { $0.received += bytes }
        } else {
            note(event)
        }
    }
}

/// A listener and the ports it accepts, all in a loop's default mode.
final class Server {
    let log = SocketLog()
    private(set) var connections: [SocketPort] = []
    private var made: SocketPort?

    var listener: SocketPort {
        guard let made else { preconditionFailure("No listener.") }
        return made
    }

    var address: SocketAddress {
        guard let address = listener.localAddress else { preconditionFailure("No address.") }
        return address
    }

    var connection: SocketPort {
        guard let first = connections.first else { preconditionFailure("No connection.") }
        return first
    }

    init(
        _ loop: UVRunLoop,
        at address: SocketAddress = .ipv4Loopback(port: 0),
        options: SocketPort.ListenOptions = SocketPort.ListenOptions(),
        handler: ((SocketPort, SocketPort.Event) -> Void)? = nil
    ) throws {
        let log = log
        let handler = handler ?? { _, event in log.note(event) }
        let listener = try SocketPort(listeningAt: address, options: options) {
            [weak self] _, event in
            guard case .accepted(let port) = event else { return log.note(event) }
            port.setHandler(handler)
            loop.add(port, forMode: .default)
            self?.connections.append(port)
        }
        loop.add(listener, forMode: .default)
        made = listener
    }

    func close() {
        for port in [listener] + connections { port.invalidate() }
    }
}

/// The other side of a connection, with plain blocking calls.
final class Peer {
    private(set) var number: CInt

    init(owning number: CInt) {
        self.number = number
        precondition(number >= 0)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Connects at once, which the kernel does for a listener's line.
    convenience init(connectingTo address: SocketAddress) throws {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(address.family, kind, 0)
        let raw = try address.raw
        let status = raw.lend { connect(number, $0, $1) }
        precondition(status == 0, "No connection: \(errno).")
        self.init(owning: number)
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            precondition(count > 0, "Nothing could be sent: \(errno).")
            rest = rest.dropFirst(count)
        }
    }

    /// What one read brings: empty at the end, `nil` for an error.
    func read(_ count: Int = 65536) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = Glibc.read(number, &bytes, count)
        return length < 0 ? nil : Array(bytes[..<length])
    }

    func readText() -> String? { read().map { String(decoding: $0, as: UTF8.self) } }

    func readToTheEnd() -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = read(), !bytes.isEmpty { all += bytes }
        return all
    }

    func endSending() { shutdown(number, CInt(SHUT_WR)) }

    /// Has the kernel send a reset instead of an end.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, size)
        close()
    }

    func close() {
        if number >= 0 { Glibc.close(number) }
        number = -1
    }

    deinit { close() }
}

/// Bytes that repeat themselves at no length that a buffer has.
func pattern(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes += block }
    bytes.removeLast(bytes.count - count)
    return bytes
}

private let block = (0..<1021).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) }
