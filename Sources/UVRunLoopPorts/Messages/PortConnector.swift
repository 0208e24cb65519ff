import UVRunLoop

/// Connects to the listener of a name.
enum PortConnector {
    /// How long to retry while the listener's backlog is full.
    private static let limit = Duration.seconds(1)

    /// Connects to the owner of a name, and returns its credentials.
    static func connect(
        to files: PortFiles
    ) throws(MessagePortError) -> (socket: SharedSocket, peer: PeerCredentials) {
        let socket = try socket(connectedTo: files)
        let peer = try translating { () throws(UVError) in
            try socket.descriptor.peerCredentials()
        }
        // A dead process's listener stays open in children that it forked.
        guard peer.mayBeAlive else { throw .noSuchPort }
        return (socket, peer)
    }

    private static func socket(
        connectedTo files: PortFiles
    ) throws(MessagePortError) -> SharedSocket {
        guard try files.holdsSocket() else { throw .noSuchPort }
        let address = try files.address()
        let date = limit.fromNow
        while true {
            let socket = try translating { () throws(UVError) in try Stream.unixSocket() }
            do throws(UVError) {
                if case .done = try socket.connect(to: address) { return SharedSocket(socket) }
            } catch UVError.connectionRefused, UVError.noSuchFile {
                throw .noSuchPort
            } catch {
                throw MessagePortError(error)
            }
            guard monotonicNow() < date else { throw .sendTimedOut }
            pause(milliseconds: 1)
        }
    }
}
