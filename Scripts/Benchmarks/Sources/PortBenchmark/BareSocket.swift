import Glibc

/// A Unix-domain socket with blocking calls: what a round trip between two processes costs at
/// least.
struct BareSocket {
    private let descriptor: CInt

    /// Serves one connection at a path until the other side is gone: every byte string comes back.
    static func serve(at path: String) {
        let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        withAddress(path) { _ = bind(listener, $0, $1) }
        listen(listener, 1)
        let peer = BareSocket(descriptor: accept(listener, nil, nil))
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(peer.descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            _ = write(peer.descriptor, buffer, count)
        }
    }

    /// Connects as soon as somebody serves the path.
    init(connectingTo path: String) {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var status: CInt = -1
        while status != 0 {
            Self.withAddress(path) { status = connect(descriptor, $0, $1) }
            if status != 0 { usleep(1_000) }
        }
        self.descriptor = descriptor
    }

    private init(descriptor: CInt) { self.descriptor = descriptor }

    func roundTrip(_ bytes: [UInt8], into buffer: inout [UInt8]) {
        _ = write(descriptor, bytes, bytes.count)
        var count = 0
        while count < bytes.count {
            let more = read(descriptor, &buffer, buffer.count)
            guard more > 0 else { fatalError("The other side is gone.") }
            count += more
        }
    }

    func close() { Glibc.close(descriptor) }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Void
    ) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
