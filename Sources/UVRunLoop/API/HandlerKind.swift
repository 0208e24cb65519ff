extension UVRunLoop {
    /// The kind of work that a loop calls, in reports of hangs and in timelines.
    ///
    /// > Threading: Any thread.
    public enum HandlerKind: UInt8, Sendable, Hashable, CaseIterable {
        /// The handler of an ``Observer``.
        case observer = 1
        /// The handler of a ``Timer``.
        case timer
        /// The perform handler of a ``Source``.
        case source
        /// The handler of a ``PortSource``.
        case port
        /// A queued block, or a perform request.
        case block
        /// A job of a task or an actor.
        case job
    }
}
