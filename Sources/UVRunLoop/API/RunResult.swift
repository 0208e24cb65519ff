extension UVRunLoop {
    /// Why a run ended.
    ///
    /// When several reasons apply at the end of a pass, ``stopped`` comes before
    /// ``handledSource``, that before ``timedOut``, and that before ``finished``.
    ///
    /// > Threading: Any thread.
    public enum RunResult: Int, Sendable, Hashable, CaseIterable {
        /// The mode holds no source, no timer and no block: there was nothing to wait for.
        case finished = 1
        /// ``UVRunLoop/stop()`` was called during the run.
        case stopped = 2
        /// The run's limit has come.
        case timedOut = 3
        /// A custom or port-based source was handled, and the run was asked to return after that.
        case handledSource = 4
    }
}
