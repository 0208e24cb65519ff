import Glibc

@testable import UVRunLoop
@testable import UVRunLoopPorts

typealias SocketPort = UVRunLoop.SocketPort
typealias SocketAddress = UVRunLoop.SocketAddress

extension UVRunLoop {
    /// Runs the loop one source at a time until a condition holds.
    ///
    /// Returns whether it does.
    @discardableResult
    func run(mode: Mode = .default, untilTrue condition: () -> Bool) -> Bool {
        let end = Instant.now + .seconds(120)
        while !condition() {
            let result = run(mode: mode, for: .seconds(60), returnAfterSourceHandled: true)
            if result == .finished || Instant.now > end { return condition() }
        }
        return true
    }
}

extension EventLog {
    func note(_ event: SocketPort.Event) { note(event.text) }
}

extension StreamLog {
    /// Collects received bytes, and logs every other event.
    func gather(_ event: SocketPort.Event) {
        if case .received(let bytes) = event { gather(bytes) } else { note(event.text) }
    }
}

extension SocketPort.Event {
    /// The event's name, and its value.
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

/// A listener and the ports it accepts, all in a loop's default mode.
final class Server {
    let log = EventLog()
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

/// The other side of a connection, with blocking system calls.
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

    /// Connects, or throws the system's error.
    ///
    /// The kernel does so at once if the listener's backlog has room.
    convenience init(connectingTo address: SocketAddress) throws {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(address.family, kind, 0)
        let raw = try address.raw
        let status = raw.lend { connect(number, $0, $1) }
        guard status == 0 else {
            let error = UVError(rawValue: -errno)
            Glibc.close(number)
            throw error
        }
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

    /// The result of one read: empty at the end, `nil` for an error.
    func read(_ count: Int = 65536) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = Glibc.read(number, &bytes, count)
        return length < 0 ? nil : Array(bytes[..<length])
    }

    /// Whether everything was read and the other side is closed, without waiting for it.
    ///
    /// A task asks for this again and again rather than read: a child that another test has just
    /// forked may keep a copy of the other side open, and a read blocks a thread of the pool.
    var isAtEnd: Bool {
        var byte: UInt8 = 0
        return recv(number, &byte, 1, CInt(MSG_DONTWAIT | MSG_PEEK)) == 0
    }

    func readText() -> String? { read().map { String(decoding: $0, as: UTF8.self) } }

    func readToTheEnd() -> [UInt8] {
        var all: [UInt8] = []
        while let bytes = read(), !bytes.isEmpty { all += bytes }
        return all
    }

    func endSending() { shutdown(number, CInt(SHUT_WR)) }

    /// Makes the kernel send a reset; does nothing if the socket is closed.
    ///
    /// Dissolving a TCP connection sends it at once. Closing the socket, with no time to linger,
    /// would send it when the last copy is closed, and a child that another test forks has one. A
    /// Unix-domain socket resets its connection when it is closed with unread input.
    func reset() {
        guard number >= 0 else { return }
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        let status = connect(number, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
        precondition(status == 0 || errno == EINVAL, "The connection stays: \(errno).")
        release()
    }

    /// Ends the connection in both directions and closes the socket.
    ///
    /// Closing alone would end it when the last copy is closed, and a child that another test forks
    /// has one for a moment, in which a virtual clock reaches any limit.
    func close() {
        if number >= 0 { shutdown(number, CInt(SHUT_RDWR)) }
        release()
    }

    private func release() {
        if number >= 0 { Glibc.close(number) }
        number = -1
    }

    deinit { close() }
}
