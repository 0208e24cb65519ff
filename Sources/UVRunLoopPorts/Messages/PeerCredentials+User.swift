import UVRunLoop

extension UVRunLoop.PeerCredentials {
    /// Whether the peer has this process's effective user, which is what message ports accept by
    /// default.
    public var isSameUser: Bool { user == Process.user }

    /// Whether the process is alive, as far as it is visible here.
    var mayBeAlive: Bool { process == 0 || Process.isAlive(process) }
}
