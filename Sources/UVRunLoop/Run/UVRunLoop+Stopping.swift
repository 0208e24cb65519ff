extension UVRunLoop {
    /// Ends the innermost run at the end of its current pass.
    ///
    /// Has no effect if the loop is not running, or has ended. A stop counts until the run ends, and
    /// does not affect the outer run or a later one.
    ///
    /// Not async-signal-safe: do not call it in a signal handler.
    ///
    /// > Threading: Any thread.
    public func stop() {
        checkProcess()
        guard runState.stop() else { return }
        waker.contentsDidChange()
    }

    /// Whether the loop is asleep, waiting for an event, at this moment: it may wake at any time.
    ///
    /// > Threading: Any thread.
    public var isWaiting: Bool {
        checkProcess()
        return wakeState.isAsleep
    }
}
