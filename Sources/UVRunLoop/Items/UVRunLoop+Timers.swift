extension UVRunLoop {
    /// Adds a timer to a mode.
    ///
    /// A timer that is in the mode already, or invalid, is left alone, and so is any after the end
    /// of the loop's thread. A sleeping loop takes the new date into account without a pass of its
    /// own.
    ///
    /// > Threading: Any thread. Traps when the timer belongs to another loop, or its handler to
    /// > another thread.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - mode: The mode, the default one if none is given; ``Mode/common`` adds it to every
    ///     common mode, later ones included.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    /// - Complexity: O(log *n*) in the number of timers, for each mode it joins.
    public func add(
        _ timer: Timer,
        forMode mode: Mode = .default,
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        timer.home.check(is: thread) {
            Caller(file, line, "timer", label: timer.label)
        }
        timer.useMark.dismiss()
        timer.owner.enter(self) {
            Caller(file, line, "timer", label: timer.label)
        } _: { engine, _ in
            engine.add(timer, to: mode)
        }
        timersDidChange(soonest: timer.date)
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
        let date = timer.owner.withLock(ifIn: self) { engine -> Int64? in
            if !engine.remove(timer, from: mode) { timer.owner.leave() }
            // Read under the lock: once the timer is in no loop, a new date concerns none.
            return timer.date
        }
        if let date { timersDidChange(soonest: date) }
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
        timer.owner.withLock(ifIn: self) { $0.contains(timer, in: mode) } ?? false
    }
}

extension UVRunLoop.Timer {
    /// Makes the timer invalid, under its lock.
    ///
    /// - Parameters:
    ///   - releasing: Whether to take its handler, which only its home thread may do.
    ///   - last: Gets the handler, for the caller to release after the lock.
    @inline(__always)
    func becomeInvalid(releasing: Bool, _ last: inout TimerCall?) {
        owner.invalidate()
        if releasing { takeCall(&last) }
    }

    /// Takes the handler of an invalid timer, under its lock; while it is being called, the end of
    /// the last call takes it.
    ///
    /// Swapped rather than assigned, which would also release the value before: 15 instructions
    /// more.
    ///
    /// - Parameter last: Gets the handler; `nil` before. The caller extends its lifetime to where
    ///   neither the lock is held nor the timer is busy, because its release may call user code.
    @inline(__always)
    func takeCall(_ last: inout TimerCall?) {
        if !core.isBeingCalled { swap(&last, &call) }
    }

    /// Has a one-shot timer called again for the same date, in a later pass; called by its handler.
    ///
    /// It stays ahead of timers that were scheduled later for that date.
    func postpone() { owner.withLock { core.postpone() } }

    /// Posts the release of an invalid timer's handler to its home thread.
    func releaseCallAtHome() {
        if !home.post({ self.releaseCall() }) { releaseCall() }
    }

    private func releaseCall() {
        var last: TimerCall?
        owner.withLock { takeCall(&last) }
        withExtendedLifetime(last) {}
    }
}
