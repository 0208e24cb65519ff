extension UVRunLoop {
    /// Adds a mode to the common modes, permanently.
    ///
    /// The mode gets every item that was added to ``Mode/common``. The `schedule` handlers of
    /// sources among them are called before this returns. Called from another thread, this wakes
    /// the loop if a source joins the mode.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter mode: The mode. Has no effect for one that is common already, and for
    ///   ``Mode/common`` itself.
    /// - Complexity: O(*n* log *n*) for *n* items and modes of the loop, a timer being counted once
    ///   for each of its modes.
    public func addCommonMode(_ mode: Mode) {
        guard mode != .common, let joined = withEngine({ $0.addCommonMode(mode) }) else { return }
        for source in joined {
            source.state.withLock { state in
                // Another thread may have taken it out again.
                if isIn(mode, state) { source.makeDue(.schedule, [mode], of: self, &state) }
            }
            source.makeModeCalls()
        }
        if !joined.isEmpty, !isOnOwnThread { wakeUp() }
        portWasAdded()
    }

    /// The common modes, and every mode that an item was added to or a block queued for.
    ///
    /// Never contains ``Mode/common`` itself.
    ///
    /// > Threading: Any thread.
    public var modes: Set<Mode> {
        let names = Set(withEngine { $0.modes.names })
        return names.union(contents.blockModes.all).subtracting([.common])
    }

    /// Returns the date of a mode's soonest timer.
    ///
    /// A timer whose handler is running counts with its ``Timer/nextFireDate``.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter mode: The mode.
    /// - Returns: The date; `nil` if the mode has no timer, and for ``Mode/common``.
    public func nextFireDate(forMode mode: Mode) -> Instant? {
        withEngine { engine in
            engine.soonestDate(in: mode) { $0.owner.isIn(location) }
        }.map { Instant(nanoseconds: $0) }
    }
}
