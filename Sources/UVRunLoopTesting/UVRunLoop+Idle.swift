import UVRunLoop

extension UVRunLoop {
    /// Runs in a mode until nothing happens by itself any more.
    ///
    /// That is when all loops of the clock sleep and none has a date, nothing is planned, the clock
    /// is not held, and no watched descriptor is ready. The mode may be empty. A timer that repeats
    /// keeps this from returning; use
    /// ``UVRunLoop/run(mode:for:returnAfterSourceHandled:file:line:)`` for one.
    ///
    /// If a handler runs the loop, and nothing happens by itself any more meanwhile, that nested run
    /// is stopped, and this one goes on, as do those of other loops.
    ///
    /// > Threading: The loop's own thread; traps elsewhere, and for a loop without a virtual clock.
    ///
    /// - Parameter mode: The mode to serve.
    /// - Returns: ``RunResult/finished``, or ``RunResult/stopped`` if the run was stopped before.
    @available(*, noasync, message: "A run keeps its thread.")
    @discardableResult
    public func runUntilIdle(mode: Mode = .default) -> RunResult {
        guard let remote = remote as? VirtualRemote else {
            fail("This run loop has no virtual clock. Make it by withVirtualLoop.")
        }
        return remote.runUntilIdle(self, mode)
    }
}

extension VirtualRemote {
    fileprivate func runUntilIdle(_ loop: UVRunLoop, _ mode: UVRunLoop.Mode) -> UVRunLoop.RunResult
    {
        let isIdle = Flag()
        let level = loop.nestingLevel + 1
        let action = IdleAction(nestingLevel: level) {
            if loop.nestingLevel == level { isIdle.value.withLock { $0 = true } }
            loop.stop()
        }
        let outer = setIdleAction(action)
        let result = loop.runUntilStopped(in: mode)
        setIdleAction(outer)
        return isIdle.value.withLock(\.self) ? .finished : result
    }

    /// Sets what is called, on the loop's thread, when nothing happens by itself any more.
    ///
    /// - Returns: What was set before, for an outer run.
    @discardableResult
    private func setIdleAction(_ action: IdleAction?) -> IdleAction? {
        clock.state.withLock { state in
            state.withLoop(number) { exchange(&$0.idleAction, with: action) } ?? nil
        }
    }
}

/// A truth for several threads.
private final class Flag: Sendable {
    let value = Guarded(false)
}
