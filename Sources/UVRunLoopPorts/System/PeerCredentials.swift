import UVRunLoop

extension UVRunLoop {
    /// A process and whose it is, by the kernel's word.
    ///
    /// It is what held when the connection was made: the process may have ended since, and its
    /// number have been given to another.
    ///
    /// > Threading: Any thread.
    public struct PeerCredentials: Hashable, Sendable {
        /// The process id; 0 for a process that cannot be seen from here, as from inside a
        /// container.
        public let process: Int32
        /// The effective user id.
        public let user: UInt32
        /// The effective group id.
        public let group: UInt32
    }
}

typealias PeerCredentials = UVRunLoop.PeerCredentials
