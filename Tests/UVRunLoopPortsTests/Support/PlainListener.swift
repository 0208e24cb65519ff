import Glibc

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A listening socket with blocking system calls.
final class PlainListener {
    let address: SocketAddress
    private var number: CInt

    /// Listens with a backlog of this many clients, and one more that the system adds.
    ///
    /// With `nil` it does not listen, and the system refuses every client; nobody else gets the
    /// address meanwhile.
    init(at address: SocketAddress, backlog: CInt? = 128) throws {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(address.family, kind, 0)
        let raw = try address.raw
        let isBound = raw.lend { bind(number, $0, $1) } == 0
        let listens = isBound && backlog.map { listen(number, $0) == 0 } ?? true
        precondition(listens, "Nobody can listen at \(address): \(errno).")
        let bound = try RawAddress { getsockname(number, $0, &$1) }
        self.number = number
        self.address = SocketAddress(bound) ?? address
    }

    /// Accepts the next client, waiting for it.
    func accept() -> Peer { Peer(owning: Glibc.accept(number, nil, nil)) }

    func close() {
        if number >= 0 { Glibc.close(number) }
        number = -1
    }

    deinit { close() }
}

extension Peer {
    /// How the other side's output ended.
    enum End: String {
        /// It shut down its sending side.
        case end
        case reset
        /// Nothing arrived within the receive limit.
        case silence
    }

    /// Reads until the end.
    func readAll() -> (bytes: [UInt8], end: End) {
        var all: [UInt8] = []
        while let bytes = read() {
            if bytes.isEmpty { return (all, .end) }
            all += bytes
        }
        return (all, errno == ECONNRESET ? .reset : .silence)
    }
}
