extension UVRunLoop {
    /// Why a run ended.
    ///
    /// If several reasons apply at the end of a pass, the first of ``stopped``, ``handledSource``,
    /// ``timedOut`` and ``finished`` is returned.
    ///
    /// > Threading: Any thread.
    public enum RunResult: Int, Sendable, Hashable, CaseIterable {
        /// The mode holds no source, no timer and no block, and no job of a task if it is common;
        /// or it is ``Mode/common``, or the loop's thread is ending.
        case finished = 1
        /// ``UVRunLoop/stop()`` was called during the run, or the loop's ``Thread`` was told to
        /// stop.
        case stopped = 2
        /// The limit of the run has passed.
        case timedOut = 3
        /// A custom or port-based source was handled, in a run that returns after that.
        case handledSource = 4
    }
}
