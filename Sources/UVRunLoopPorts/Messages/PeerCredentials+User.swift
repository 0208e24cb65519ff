import UVRunLoop

extension UVRunLoop.PeerCredentials {
    /// Whether the peer is of this process's effective user: whom a message port deals with unless
    /// it is told otherwise.
    public var isSameUser: Bool { user == Process.user }

    /// Whether the process has not ended, as far as can be seen from here.
    var mayBeAlive: Bool { process == 0 || Process.isAlive(process) }
}
