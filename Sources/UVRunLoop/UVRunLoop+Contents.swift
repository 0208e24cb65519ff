extension UVRunLoop {
    // MARK: Timers

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
            let dropped = withEngine { engine -> TimerRecord? in
                engine.noteChange()
                _ = engine.timers.remove(state.ticket, from: mode, in: &engine.modes)
                return engine.timers.dropIfUnused(state.ticket)
            }
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

    // MARK: Observers

    /// Adds an observer to a mode.
    ///
    /// An observer that is in the mode already, or invalid, is left alone. A notification under
    /// way does not reach it.
    ///
    /// > Threading: Any thread. Traps when the observer belongs to another loop, or its handler to
    /// another thread.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - mode: Where to add it; ``Mode/common`` adds it to every common mode, later ones
    ///     included.
    public func add(_ observer: Observer, forMode mode: Mode) {
        observer.handler.checkHome(is: thread)
        observer.state.withLock { state in
            guard observer.isValid else { return }
            checkOwner(state.loop, "observer")
            withEngine { engine in
                guard !engine.isClosed else { return }
                if state.loop == nil {
                    state.ticket = engine.observers.insert(ObserverRecord(observer: observer))
                    state.loop = self
                }
                engine.noteChange()
                _ = engine.observers.add(state.ticket, to: mode, in: &engine.modes)
            }
        }
    }

    /// Removes an observer from a mode.
    ///
    /// It stays valid; a notification under way still reaches it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - mode: The mode to leave; ``Mode/common`` takes an observer that was added to it out of
    ///     every common mode.
    public func remove(_ observer: Observer, forMode mode: Mode) {
        let dropped = observer.state.withLock { state -> ObserverRecord? in
            guard state.loop === self else { return nil }
            let dropped = withEngine { engine -> ObserverRecord? in
                engine.noteChange()
                _ = engine.observers.remove(state.ticket, from: mode, in: &engine.modes)
                return engine.observers.dropIfUnused(state.ticket)
            }
            if dropped != nil { state.loop = nil }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Whether an observer is in a mode, or was added to ``Mode/common`` and not removed from it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - mode: The mode.
    /// - Returns: `true` from the moment `add` has returned.
    public func contains(_ observer: Observer, forMode mode: Mode) -> Bool {
        observer.state.withLock { state in
            guard state.loop === self else { return false }
            return withEngine { $0.observers.contains(state.ticket, in: mode, of: $0.modes) }
        }
    }

    /// Timers, observers and ports are in one loop at a time.
    func checkOwner(_ owner: UVRunLoop?, _ kind: StaticString) {
        precondition(
            owner == nil || owner === self,
            "This \(kind) is in another run loop. Remove it from all modes of that one first."
        )
    }
}
