extension UVRunLoop {
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
                    state.ticket = engine.observers.insert(
                        ObserverRecord<LoopItems>(observer: observer)
                    )
                    state.loop = self
                }
                engine.add(state.ticket, observerTo: mode)
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
        let dropped = observer.state.withLock { state -> ObserverRecord<LoopItems>? in
            guard state.loop === self else { return nil }
            let dropped = withEngine { $0.remove(state.ticket, observerFrom: mode) }
            if dropped != nil { state.loop = nil }
            return dropped
        }
        if dropped != nil { observerDidLeave() }
        withExtendedLifetime(dropped) {}
    }

    /// To be called after an observer was taken out: what runs know of their modes keeps it, and
    /// what its handler holds.
    func observerDidLeave() {
        if !isOnOwnThread { contentsDidChange() }
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
        // One lock after the other: a ticket that is out of date finds nothing.
        let ticket = observer.state.withLock { $0.loop === self ? $0.ticket : .none }
        return withEngine { $0.observers.contains(ticket, in: mode, of: $0.modes) }
    }
}
