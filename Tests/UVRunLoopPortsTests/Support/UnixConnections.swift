import TestSupport

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Makes Unix-domain connections that are in no loop, and keeps their listener open.
final class UnixConnections {
    struct Connection {
        let port: SocketPort
        let peer: Peer
    }

    private let folder = TemporaryFolder()
    private let listener: PlainListener

    init() throws { listener = try PlainListener(at: .unix(folder.path + "/socket")) }

    /// A connection whose handler may be called on any thread.
    func connect() throws -> Connection {
        let port = try SocketPort(connectingTo: listener.address, sendableHandler: { _, _ in })
        return Connection(port: port, peer: listener.accept())
    }

    /// A listener at another address, whose handler may be called on any thread.
    func listen() throws -> SocketPort {
        try SocketPort(
            listeningAt: .unix(folder.path + "/other"),
            sendableHandler: { _, _ in }
        )
    }
}
