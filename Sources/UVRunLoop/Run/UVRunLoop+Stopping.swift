extension UVRunLoop {
    // MARK: Stopping and waking

    /// Ends the innermost run at the end of its current pass.
    ///
    /// Has no effect if the loop is not running. A stop counts until the run ends, and does not
    /// affect the outer run or a later one.
    ///
    /// Not async-signal-safe: do not call it in a signal handler.
    ///
    /// > Threading: Any thread.
    public func stop() {
        checkProcess()
        guard innermostRun.stop() else { return }
        waker.contentsDidChange()
    }

    /// Ends the loop's current sleep, or the next one.
    ///
    /// The loop then makes another pass, which finds signalled sources. A wake-up that is pending
    /// when a pass begins is cleared; that pass checks everything anyway.
    ///
    /// Makes no system call while the loop is awake. Not async-signal-safe: do not call it in a
    /// signal handler.
    ///
    /// > Threading: Any thread.
    public func wakeUp() {
        checkProcess()
        waker.wakeUp()
    }

    /// Whether the loop is asleep, waiting for an event.
    ///
    /// > Threading: Any thread.
    public var isWaiting: Bool {
        checkProcess()
        return word.isAsleep
    }
}
