extension UVRunLoop {
    // Everything here takes what is next while it holds the state, lets go, and then calls.
    // Handlers may do anything: change the contents, run the loop again, end the run.

    // MARK: Observers

    /// Tells the mode's observers of a step.
    ///
    /// Those that join meanwhile are not told.
    @inline(__always)
    func notify(_ activity: Activities, _ run: inout Run) {
        refresh(&run)
        guard run.view.observers.observed.contains(activity) else { return }
        tellObservers(activity, run.view)
        run.timeHasPassed()
    }

    private func tellObservers(_ activity: Activities, _ view: borrowing Engine.View) {
        view.observers.forEach(toldOf: activity) { $0.callOut(activity) }
    }

    // MARK: Step 4

    /// Fires the signalled sources of the mode, or, in a run that returns after one, the first.
    ///
    /// - Returns: Whether a source was handled.
    func fireSignalledSources(_ run: inout Run) -> Bool {
        guard mayHoldSignals else { return false }
        let mode = run.modeIndex
        let returnsAfterSource = run.terms.returnsAfterSource
        let (count, first) = withEngine { engine -> (Int, Source?) in
            let count = engine.modes[mode].signalled.count
            // One alone needs no batch.
            let firesOne = count == 1 || returnsAfterSource
            return (count, firesOne ? engine.takeFirstSignalled(in: mode) : nil)
        }
        // Those that are signalled may all be in other modes.
        guard count > 0 else { return false }
        defer { run.timeHasPassed() }
        guard let first else { return fireAllSignalledSources(in: mode) }
        return fire(first, orNextIn: mode)
    }

    /// Fires a source that was taken, or, if another loop was first, the next one that is signalled.
    private func fire(_ first: Source, orNextIn mode: Int) -> Bool {
        var next = Optional(first)
        while let source = next {
            if source.takeSignal(clearedIn: self), source.callOut() { return true }
            next = withEngine { $0.takeFirstSignalled(in: mode) }
        }
        return false
    }

    /// Fires the sources that are signalled now; those signalled meanwhile wait for the next pass.
    private func fireAllSignalledSources(in mode: Int) -> Bool {
        let spare = local.withValue { exchange(&$0.spareSources, with: []) }
        var batch = signalledSources(in: mode, spare)
        var handledSource = false
        for signalled in batch where signalled.source.takeSignal() {
            if signalled.source.callOut() { handledSource = true }
        }
        batch.removeAll(keepingCapacity: true)
        local.withValue { $0.spareSources = batch }
        return handledSource
    }

    private func signalledSources(
        in mode: Int,
        _ storage: consuming [Engine.SignalledSource]
    ) -> [Engine.SignalledSource] {
        var batch = storage
        withEngine { $0.collectSignalled(in: mode, into: &batch) }
        batch.sort { $0.turn < $1.turn }
        return batch
    }

    // MARK: Step 9

    /// Fires the timers of the mode's innermost batch, soonest date first, and ends the batch.
    func fireTimers(from first: Engine.Firing, _ run: inout Run) {
        let mode = run.modeIndex
        var next = Optional(first)
        while let firing = next {
            firing.timer.missed.store(firing.missed, ordering: .relaxed)
            firing.timer.callOut(firing.call)
            run.timeHasPassed()
            // The end of one call and the beginning of the next, or of the batch, share a lock.
            let (end, following, displaced) = withEngine {
                engine -> (TimerCallEnd, Engine.Firing?, [Timer]) in
                let now = firing.isRepeating ? run.now(by: remote) : nil
                let end = endCall(of: firing.timer, now: now, &engine)
                let following = takeNext(&run, &engine)
                return (end, following, following == nil ? engine.endBatch(in: mode) : [])
            }
            // Whatever is released may run user code.
            if end.finish(firing.timer) || !displaced.isEmpty { run.timeHasPassed() }
            next = following
        }
    }

    /// Takes the next timer of the innermost batch of the run's mode.
    func takeNext(_ run: inout Run, _ engine: inout Engine) -> Engine.Firing? {
        engine.takeNext(in: run.modeIndex) {
            run.now(by: remote)
        } isHere: { timer in
            timer.owner.location == location
        }
    }

    /// Ends a timer's call in the loop where it began.
    private func endCall(of timer: Timer, now: Int64?, _ engine: inout Engine) -> TimerCallEnd {
        guard timer.owner.location == location else {
            engine.noteEnd(of: timer)
            return .elsewhere
        }
        if engine.endCall(timer, now: now) { return .goesOn }
        let last = timer.becomeInvalid(releasing: true)
        timer.owner.leave()
        return .isDone(last)
    }

    /// Calls a timer by hand, in its loop or in none.
    static func fire(_ timer: Timer) {
        guard timer.isValid else { return }
        require(timer.home == nil || timer.home?.isCurrent == true, ThreadBound<Void>.rule)
        let (loop, call) = timer.withLockedState { loop, engine -> (UVRunLoop?, TimerCall?) in
            loop.checkThread()
            engine.beginCall(timer)
            return (loop, timer.call)
        } nowhere: {
            timer.core.callWillBegin(forDate: false)
            return (nil, timer.call)
        }
        timer.callOut(call)
        guard let loop else { return timer.endCallElsewhere() }
        loop.withEngine { loop.endCall(of: timer, now: nil, &$0) }.finish(timer)
    }

    /// Delivers one event of one port; answers whether it handled it.
    func serve(_ delivery: Engine.Delivery, _ run: inout Run) -> Bool {
        if delivery.isFinal { Self.takeOut(delivery.port.link) }
        // Only those who send to an in-process port wait for room in it.
        let isInProcess = delivery.port.link.descriptor == nil
        let outerReceiver = isInProcess ? setServed(delivery.port.link.receiver) : nil
        let answer = callOut(delivery, &run)
        run.timeHasPassed()
        if isInProcess { _ = setServed(outerReceiver) }
        if delivery.isFinal { delivery.port.link.receiver.releaseHandler(in: self) }
        let (ticket, hasMore) = (delivery.ticket, answer.hasMore)
        let isHere = withEngine { $0.endCall(of: ticket, hasMore: hasMore) }
        if !isHere { delivery.port.link.endCallElsewhere(hasMore: hasMore) }
        endTurn(of: delivery.port.link.receiver, hasMore: hasMore, &run)
        return answer.wasHandled
    }

    /// Calls a port, and again while it has more and passes in between would do nothing.
    private func callOut(_ delivery: Engine.Delivery, _ run: inout Run) -> ServeResult {
        let answer = delivery.port.link.callOut(delivery.port.object, delivery.events)
        guard answer.hasMore, var quiet = quiet(&run) else { return answer }
        let further = delivery.port.link.callOutForMore(delivery.port.object) { lasts(&quiet) }
        run.latestPoll = quiet.poll
        return ServeResult(
            wasHandled: answer.wasHandled || further.wasHandled,
            hasMore: further.hasMore
        )
    }

    /// Notes which in-process port is being served; answers which was.
    private func setServed(_ receiver: (any PortReceiver)?) -> (any PortReceiver)? {
        local.withValue { exchange(&$0.servedReceiver, with: receiver) }
    }

    /// Tells a port that others are served now; a busy one not before that is so.
    private func endTurn(of receiver: any PortReceiver, hasMore: Bool, _ run: inout Run) {
        if let busy = run.busyReceiver, busy !== receiver { busy.servingDidEnd() }
        if hasMore || run.busyReceiver != nil { run.busyReceiver = hasMore ? receiver : nil }
        if !hasMore { receiver.servingDidEnd() }
    }
}

/// What became of a timer by the end of its call.
private enum TimerCallEnd {
    case goesOn
    /// A one-shot timer has done its work; what it called is to be let go.
    case isDone(TimerCall?)
    /// Its handler took it out of the loop, and perhaps put it somewhere else.
    case elsewhere

    /// Does what is left to do without a lock.
    ///
    /// - Returns: Whether user code may have run.
    @discardableResult
    consuming func finish(_ timer: UVRunLoop.Timer) -> Bool {
        switch self {
        case .goesOn: return false
        case .isDone: return true
        case .elsewhere:
            timer.endCallElsewhere()
            return true
        }
    }
}

extension UVRunLoop.Timer {
    /// Calls the handler.
    ///
    /// Stays out of line so that backtraces and profiles show whose turn it was.
    @inline(never)
    fileprivate func callOut(_ call: TimerCall?) { call?.body(self) }

    /// Ends a call during which the timer left its loop.
    ///
    /// A one-shot is done all the same; a repeating timer may wait in another loop, or again in
    /// this one, for its call to end.
    fileprivate func endCallElsewhere() {
        let repeats = withLockedState { _, engine in
            core.callDidEnd()
            engine.schedule(self)
            return core.series.interval != nil
        } nowhere: {
            core.callDidEnd()
            return core.series.interval != nil
        } afterwards: { loop in
            loop.contentsDidChange()
        }
        if !repeats { invalidate() }
    }
}

extension UVRunLoop.PortLink {
    /// Has the port handle an event.
    ///
    /// Stays out of line so that backtraces and profiles show whose turn it was.
    @inline(never)
    fileprivate func callOut(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult {
        receiver.receive(port, events)
    }

    /// Has the port handle what it has besides, while that is all there is to do.
    ///
    /// Stays out of line so that backtraces and profiles show whose turn it was.
    @inline(never)
    fileprivate func callOutForMore(
        _ port: any AnyObject & Sendable,
        while mayGoOn: () -> Bool
    ) -> ServeResult {
        receiver.receiveMore(port, while: mayGoOn)
    }

    /// Ends a call during which the port was taken out of its loop: it may be in another one,
    /// which then has waited for this, or in the same again.
    fileprivate func endCallElsewhere(hasMore: Bool) {
        let owner = state.withLock { state -> UVRunLoop? in
            isBeingCalled = false
            _ = state.loop?.withEngine { $0.endCall(of: state.ticket, hasMore: hasMore) }
            return state.loop
        }
        owner?.contentsDidChange()
    }
}
