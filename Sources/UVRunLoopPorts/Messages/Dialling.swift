import UVRunLoop

/// Connects to whoever listens under a name.
enum Dialling {
    /// How long to stand in a line that is full.
    private static let limit = Duration.seconds(1)

    static func connect(to files: PortFiles) throws(MessagePortError) -> SharedSocket {
        guard try files.holdsSocket(at: files.socket) else { throw .noSuchPort }
        let address = try files.address(of: files.socket)
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
