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
    ///   - mode: The mode, the default one if none is given; ``Mode/common`` adds it to every common mode, later ones
    ///     included.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    /// - Complexity: O(log *n*) in the number of timers, for each mode it joins.
    public func add(
        _ timer: Timer,
        forMode mode: Mode = .default,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        HomeThread.check(timer.home?.identity, is: thread) {
            Caller(file, line, "timer", label: timer.label)
        }
        timer.useMark.dismiss()
        withEngine { engine in
            guard !engine.isClosed else { return }
            let claim = timer.owner.claim(for: location)
            Self.checkOwner(isThisOne: claim != .elsewhere) {
                Caller(file, line, "timer", label: timer.label)
            }
            // From here on no other thread can invalidate it.
            if timer.isValid {
                engine.add(timer, to: mode)
            } else if claim == .new {
                timer.owner.leave()
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
        let now = remote.now
        withEngine { engine in
            guard timer.owner.location == location else { return }
            if !engine.remove(timer, from: mode) { timer.didLeave(now: now) }
        }
        contentsDidChange()
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
        withEngine { engine in
            timer.owner.location == location && engine.contains(timer, in: mode)
        }
    }
}

extension UVRunLoop.Timer {
    /// Calls a body while the lock that guards the timer at present is held.
    ///
    /// The first two bodies must not call user code, and release nothing.
    ///
    /// - Parameters:
    ///   - inLoop: Called if the timer is in a loop.
    ///   - nowhere: Called if it is in none.
    ///   - afterwards: Called after the lock was released, if the timer was in a loop.
    /// - Returns: The result of the body.
    @inline(__always)
    func withLockedState<Result: Sendable>(
        _ inLoop: (UVRunLoop, inout Engine) -> Result,
        nowhere: () -> Result,
        afterwards: (UVRunLoop) -> Void = { _ in }
    ) -> Result {
        while true {
            let location = owner.location
            guard location != .nowhere else {
                if let result = owner.whileUnowned(nowhere) { return result }
                continue
            }
            let result = ThreadRecord.withLoop(at: location) { loop -> Result? in
                let result = loop.withEngine { engine -> Result? in
                    // It may have left before the lock was taken.
                    owner.location == location ? inLoop(loop, &engine) : nil
                }
                if result != nil { afterwards(loop) }
                return result
            }
            if let result { return result }
        }
    }

    /// Calls one body, whether the timer is in a loop or not.
    func withLockedState<Result: Sendable>(_ body: () -> Result) -> Result {
        withLockedState({ _, _ in body() }, nowhere: body)
    }

    /// Leaves the loop; the caller holds its lock.
    func didLeave(now: Int64) {
        core.didLeave(now: now)
        owner.leave()
    }

    /// Makes the timer invalid, under its lock.
    ///
    /// - Parameter releasing: Whether to take its handler, which only its home thread may do.
    /// - Returns: The handler, for the caller to release after the lock.
    @inline(__always)
    func becomeInvalid(releasing: Bool) -> TimerCall? {
        validity.store(false, ordering: .releasing)
        return releasing ? call.take() : nil
    }

    /// Whether the calling thread may touch the handler.
    var isAtHome: Bool { home?.isCurrent ?? true }

    /// Posts the release of an invalid timer's handler to its home thread.
    func releaseCallAtHome() {
        guard let home else { return }
        if !home.post({ self.releaseCall() }) { releaseCall() }
    }

    private func releaseCall() {
        let last = withLockedState { call.take() }
        withExtendedLifetime(last) {}
    }
}
