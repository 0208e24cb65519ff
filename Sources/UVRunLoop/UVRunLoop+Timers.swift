extension UVRunLoop {
    /// Adds a timer to a mode.
    ///
    /// A timer that is in the mode already, or invalid, is left alone. A sleeping loop takes the
    /// new date into account without a pass of its own.
    ///
    /// > Threading: Any thread. Traps when the timer belongs to another loop, or its handler to
    /// another thread.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - mode: Where to add it; ``Mode/common`` adds it to every common mode, later ones
    ///     included.
    /// - Complexity: O(log *n*) in the number of timers, for each mode it joins.
    public func add(_ timer: Timer, forMode mode: Mode) {
        timer.handler.checkHome(is: thread)
        timer.state.withLock { state in
            guard timer.isValid else { return }
            checkOwner(state.loop, "timer")
            withEngine { engine in
                guard !engine.isClosed else { return }
                if state.loop == nil {
                    let record = TimerRecord(
                        timer: timer,
                        series: state.series,
                        tolerance: state.tolerance
                    )
                    state.ticket = engine.timers.insert(record)
                    state.loop = self
                }
                engine.add(state.ticket, timerTo: mode)
            }
        }
        contentsDidChange()
    }

    /// Removes a timer from a mode.
    ///
    /// It stays valid, and in its other modes.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - mode: The mode to leave; ``Mode/common`` takes a timer that was added to it out of
    ///     every common mode.
    public func remove(_ timer: Timer, forMode mode: Mode) {
        let dropped = timer.state.withLock { state -> TimerRecord? in
            guard state.loop === self else { return nil }
            let dropped = withEngine { $0.remove(state.ticket, timerFrom: mode) }
            if let dropped {
                state.series = dropped.seriesOnLeaving(now: remote.now)
                state.loop = nil
            }
            return dropped
        }
        contentsDidChange()
        withExtendedLifetime(dropped) {}
    }

    /// Whether a timer is in a mode, or was added to ``Mode/common`` and not removed from it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - mode: The mode.
    /// - Returns: `true` from the moment `add` has returned.
    public func contains(_ timer: Timer, forMode mode: Mode) -> Bool {
        timer.state.withLock { state in
            guard state.loop === self else { return false }
            return withEngine { $0.timers.contains(state.ticket, in: mode, of: $0.modes) }
        }
    }
}
