import UVRunLoop

extension UVRunLoop.PeerCredentials {
    /// Whether the peer is of this process's effective user: whom a message port deals with unless
    /// it is told otherwise.
    public var isSameUser: Bool { user == Process.user }
}
