extension UVRunLoop {
    // Step 9 for timers. Each function takes the next one while it holds the lock, releases the
    // lock, then calls out.

    /// Fires the timers of the mode's innermost batch, soonest date first, and ends the batch.
    ///
    /// - Returns: `false` if all of them were perform requests that wait for a later pass.
    func fireTimers(from first: consuming Engine.Firing, _ run: inout Run) -> Bool {
        var next = Optional(first)
        // Another thread may leave the latest call the last reference to its timer, whose release may
        // change what is next: so it is released while no timer is taken.
        var latest: Engine.Firing?
        var hasFired = false
        while let firing = next.take() {
            calling(.timer, firing.timer) { firing.timer.callOut() }
            if takeHandledSomething(run) { hasFired = true }
            // An optimised build would release it before the call.
            withExtendedLifetime(latest) {}
            latest = nil
            userCodeMayHaveRun(&run)
            var displaced: [Timer]?
            if endFire(firing, &run, &next, &displaced) {
                _ = consume firing
                takeNextAfterRelease(&run, &next, &displaced)
            } else if firing.timer.repeats {
                latest = consume firing
            }
            // The release of the batch's timers may run user code, too.
            if displaced != nil {
                displaced = nil
                userCodeMayHaveRun(&run)
            }
        }
        return hasFired
    }

    /// Ends a timer's call.
    ///
    /// The end of a call and the start of the next, or the end of the batch, share one lock, unless
    /// user code may run between them, because a handler or a timer is released: it may change what
    /// is next.
    ///
    /// - Parameters:
    ///   - firing: The call.
    ///   - run: The run.
    ///   - next: Receives the next timer of the batch.
    ///   - displaced: Receives the timers that the end of the batch releases.
    /// - Returns: Whether the timer has left the loop, and is to be released before the next one is
    ///   taken.
    @inline(__always)
    private func endFire(
        _ firing: borrowing Engine.Firing,
        _ run: inout Run,
        _ next: inout Engine.Firing?,
        _ displaced: inout [Timer]?
    ) -> Bool {
        var end: TimerCallEnd?
        next = contents.withEngine { engine -> Engine.Firing? in
            let now = firing.timer.repeats ? run.now(by: waker) : nil
            end = endCall(of: firing.timer, now: now, &engine)
            return end == nil ? takeNextOrEnd(&run, &engine, &displaced) : nil
        }
        guard let end else { return false }
        guard end.complete(firing.timer) else { return true }
        takeNextAfterRelease(&run, &next, &displaced)
        return false
    }

    /// Takes the next timer when user code may have run since the call.
    @inline(__always)
    private func takeNextAfterRelease(
        _ run: inout Run,
        _ next: inout Engine.Firing?,
        _ displaced: inout [Timer]?
    ) {
        userCodeMayHaveRun(&run)
        next = contents.withEngine { takeNextOrEnd(&run, &$0, &displaced) }
    }

    /// Takes the next timer of the batch, or ends the batch.
    @inline(__always)
    private func takeNextOrEnd(
        _ run: inout Run,
        _ engine: inout Engine,
        _ displaced: inout [Timer]?
    ) -> Engine.Firing? {
        let following = takeNext(&run, &engine)
        if following == nil { displaced = engine.endBatch(in: run.modeIndex) }
        return following
    }

    /// Takes the next timer of the innermost batch of the run's mode.
    @inline(__always)
    func takeNext(_ run: inout Run, _ engine: inout Engine) -> Engine.Firing? {
        engine.takeNext(in: run.modeIndex) {
            run.now(by: waker)
        } isInLoop: { timer in
            timer.owner.isIn(location)
        }
    }

    /// Ends a timer's call in the loop that began it.
    @inline(__always)
    fileprivate func endCall(of timer: Timer, now: Int64?, _ engine: inout Engine) -> TimerCallEnd?
    {
        guard timer.owner.isIn(location) else {
            engine.runningTimers.pop(timer)
            return .elsewhere(now: now)
        }
        if engine.endCall(timer, now: now) { return nil }
        var last: TimerCall?
        timer.becomeInvalid(releasing: true, &last)
        timer.owner.leave()
        return .isDone(last)
    }
}

/// The end of a timer's call, which is made without a lock: it may run user code, because it
/// releases a handler.
private enum TimerCallEnd: ~Copyable {
    /// A one-shot timer is finished; its handler is to be released.
    case isDone(TimerCall?)
    /// The handler removed the timer from the loop, and may have added it to another.
    ///
    /// The time after the call is given if a repeating timer goes on to its next date.
    case elsewhere(now: Int64?)

    /// - Returns: Whether the timer has no handler any more.
    @discardableResult
    consuming func complete(_ timer: UVRunLoop.Timer) -> Bool {
        switch self {
        case .isDone(let last):
            withExtendedLifetime(last) {}
            return true
        case .elsewhere(let now):
            timer.endCallElsewhere(now: now)
            return false
        }
    }
}

extension UVRunLoop.Timer {
    /// Calls the handler now.
    ///
    /// A repeating timer's dates stay as they are; a one-shot timer is invalid afterwards.
    /// Does nothing when the timer is invalid.
    ///
    /// > Threading: The loop's own thread; traps elsewhere. Any thread for a timer in no loop,
    /// > if its handler is sendable.
    ///
    /// - Parameters:
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    public func fire(file: StaticString = #fileID, line: UInt = #line) {
        useMark.dismiss()
        guard isValid else { return }
        home.check(is: .current) { Caller(file, line, "timer", label: label) }
        let loop = owner.withLock { loop, engine -> UVRunLoop? in
            loop.checkThread(file: file, line: line)
            engine.beginCall(self)
            return loop
        } nowhere: {
            core.callWillBegin(forDate: false)
            return nil
        }
        guard let loop else {
            callOut()
            return endCallElsewhere(now: nil)
        }
        loop.calling(.timer, self, isByHand: true) { callOut() }
        loop.withEngine { loop.endCall(of: self, now: nil, &$0) }?.complete(self)
    }

    /// Calls the handler, unless it was released.
    ///
    /// Never inlined, so that backtraces and profiles show the callout.
    @inline(never)
    func callOut() {
        switch call {
        case .some(let call): call.body(self)
        case .none: break
        }
    }

    /// Ends a call during which the timer left its loop.
    ///
    /// A one-shot timer is finished. A repeating timer may be in another loop by now, or in this
    /// one again, where it is not scheduled until its call has ended.
    ///
    /// - Parameter now: The time after the call, past which the timer goes on; `nil` leaves its
    ///   date as it is.
    fileprivate func endCallElsewhere(now: Int64?) {
        // Before the call ends: until then, no loop fires the timer.
        if !repeats { invalidate() }
        var last: TimerCall?
        owner.withLock { _, engine in
            engine.scheduleAfterCall(self, endCall(now: now))
        } nowhere: {
            endCall(now: now)
            if !isValid { takeCall(&last) }
        } afterwards: { loop in
            loop.contentsDidChange()
        }
        withExtendedLifetime(last) {}
    }
}
