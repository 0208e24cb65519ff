extension UVRunLoop {
    /// Adds an observer to a mode.
    ///
    /// Has no effect if the observer is in the mode already or is invalid. A notification in
    /// progress does not reach it.
    ///
    /// > Threading: Any thread. Traps when the observer belongs to another loop, or its handler to
    /// > another thread.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - mode: The mode, the default one if none is given; ``Mode/common`` adds the observer to every common mode, later ones
    ///     included.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    public func add(
        _ observer: Observer,
        forMode mode: Mode = .default,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        let caller = { Caller(file, line, "observer", label: observer.label) }
        observer.handler.checkHome(is: thread, caller)
        observer.useMark.dismiss()
        observer.state.withLock { state in
            guard observer.isValid else { return }
            Self.checkOwner(isThisOne: state.loop.map { $0 === self } ?? true, caller)
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
    /// The observer stays valid. A notification in progress still reaches it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - mode: The mode; ``Mode/common`` removes an observer that was added to it from every
    ///     common mode.
    public func remove(_ observer: Observer, forMode mode: Mode) {
        let dropped = observer.state.withLock { state -> ObserverRecord<LoopItems>? in
            guard state.loop === self else { return nil }
            let dropped = withEngine { $0.remove(state.ticket, observerFrom: mode) }
            if dropped != nil { state.loop = nil }
            return dropped
        }
        // A sleeping run's view of its mode retains the observer until the view is refreshed.
        if dropped != nil, !isOnOwnThread { contentsDidChange() }
        withExtendedLifetime(dropped) {}
    }

    /// Returns whether an observer is in a mode.
    ///
    /// For ``Mode/common``: whether it was added to that and not removed from it.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - mode: The mode.
    /// - Returns: `true` from the moment `add` has returned.
    public func contains(_ observer: Observer, forMode mode: Mode) -> Bool {
        // The two locks are not nested: an outdated ticket finds nothing.
        let ticket = observer.state.withLock { $0.loop === self ? $0.ticket : .none }
        return withEngine { $0.observers.contains(ticket, in: mode, of: $0.modes) }
    }
}
