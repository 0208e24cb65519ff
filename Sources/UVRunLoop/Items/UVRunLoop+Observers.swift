extension UVRunLoop {
    /// Adds an observer to a mode.
    ///
    /// Has no effect if the observer is in the mode already or is invalid, or if the loop's thread
    /// has ended. A notification in progress does not reach it.
    ///
    /// > Threading: Any thread. Traps when the observer belongs to another loop, or its handler to
    /// > another thread.
    ///
    /// - Parameters:
    ///   - observer: The observer.
    ///   - mode: The mode, the default one if none is given; ``Mode/common`` adds the observer to
    ///     every common mode, later ones included.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    public func add(
        _ observer: Observer,
        forMode mode: Mode = .default,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        let caller = { Caller(file, line, "observer", label: observer.label) }
        observer.handler.home.check(is: thread, caller)
        observer.useMark.dismiss()
        observer.owner.enter(self, caller) { engine, isNew in
            if isNew {
                observer.ticket.value = engine.observers.insert(ObserverRecord(observer: observer))
            }
            engine.add(observer.ticket.value, observerTo: mode)
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
        let dropped = observer.owner.withLock(ifIn: self) { engine in
            let dropped = engine.remove(observer.ticket.value, observerFrom: mode)
            if dropped != nil { observer.owner.leave() }
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
        observer.owner.withLock(ifIn: self) { engine in
            engine.observers.contains(observer.ticket.value, in: mode, of: engine.modes)
        } ?? false
    }
}
