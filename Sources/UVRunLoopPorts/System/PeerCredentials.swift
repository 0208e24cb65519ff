import UVRunLoop

extension UVRunLoop {
    /// The process and user of a peer, as reported by the kernel.
    ///
    /// They were recorded when the connection was made: the process may have ended since, and its
    /// id may have been reused.
    ///
    /// > Threading: Any thread.
    public struct PeerCredentials: Hashable, Sendable {
        /// The process id; 0 for a process that is not visible here, such as one outside a
        /// container's namespace.
        public let process: Int32
        /// The effective user id.
        public let user: UInt32
        /// The effective group id.
        public let group: UInt32
    }
}

typealias PeerCredentials = UVRunLoop.PeerCredentials
