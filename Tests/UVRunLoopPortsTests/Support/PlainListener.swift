import Glibc

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// A listening socket with plain blocking calls.
final class PlainListener {
    let address: SocketAddress
    private var number: CInt

    /// Listens with room for so many clients that wait, and one more, which the system adds.
    init(at address: SocketAddress, backlog: CInt = 128) throws {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(address.family, kind, 0)
        let raw = try address.raw
        let isBound = raw.lend { bind(number, $0, $1) } == 0 && listen(number, backlog) == 0
        precondition(isBound, "Nobody can listen at \(address): \(errno).")
        let bound = try RawAddress { getsockname(number, $0, &$1) }
        self.number = number
        self.address = SocketAddress(bound) ?? address
    }

    /// The next client's connection, which is waited for.
    func accept() -> Peer { Peer(owning: Glibc.accept(number, nil, nil)) }

    func close() {
        if number >= 0 { Glibc.close(number) }
        number = -1
    }

    deinit { close() }
}

extension Peer {
    /// How the other side's direction came to its end.
    enum End: String {
        /// It said that no more comes.
        case end
        case reset
        /// Nothing came for the length of the receive limit.
        case silence
    }

    /// Reads all that comes.
    func readAll() -> (bytes: [UInt8], end: End) {
        var all: [UInt8] = []
        while let bytes = read() {
            if bytes.isEmpty { return (all, .end) }
            all += bytes
        }
        return (all, errno == ECONNRESET ? .reset : .silence)
    }
}
