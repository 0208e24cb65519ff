extension UVRunLoop {
    // Everything here takes what is next while it holds the state, lets go, and then calls. Handlers may do anything:
    // change the contents, run the loop again, end the run.

    // MARK: Observers

    /// Tells the mode's observers of a step.
    ///
    /// Those that join meanwhile are not told.
    func notify(_ activity: Activities, _ run: inout Run) {
        refresh(&run)
        for observer in run.view.observers[activity] { observer.callOut(activity) }
    }

    // MARK: Step 4

    /// Fires the signalled sources of the mode, or, in a run that returns after one, the first.
    ///
    /// - Returns: Whether a source was handled.
    func fireSignalledSources(_ run: inout Run) -> Bool {
        guard mayHoldSignals else { return false }
        let mode = run.modeIndex
        if run.returnsAfterSource { return fireFirstSignalledSource(in: mode) }
        let sources = withEngine { engine -> [Source] in
            switch engine.modes[mode].signalled.count {
            case 0: []
            default: engine.signalledSources(in: mode)
            }
        }
        var handledSource = false
        for source in sources where source.takeSignal() {
            source.callOut()
            handledSource = true
        }
        return handledSource
    }

    private func fireFirstSignalledSource(in mode: Int) -> Bool {
        while let source = withEngine({ $0.firstSignalled(in: mode) }) {
            // Another loop may have been first.
            guard source.takeSignal() else { continue }
            source.callOut()
            return true
        }
        return false
    }

    // MARK: Step 9

    /// Fires every timer of the mode that is due now, soonest date first.
    func fireDueTimers(_ run: inout Run) {
        let mode = run.modeIndex
        let now = remote.now
        let batch = withEngine { $0.beginBatch(in: mode, now: now) }
        while let firing = withEngine({ $0.takeNext(of: batch, in: mode) }) {
            firing.timer.missed.store(firing.missed, ordering: .relaxed)
            firing.timer.callOut()
            endCall(
                of: firing.timer,
                firing.ticket,
                now: firing.timer.period.map { _ in remote.now }
            )
        }
        withEngine { $0.modes[mode].timers.end(batch) }
    }

    private func endCall(of timer: Timer, _ ticket: Ticket, now: Int64?) {
        timer.callDepth.subtract(1, ordering: .relaxed)
        switch withEngine({ $0.endCall(ticket, now: now) }) {
        case .isScheduled: break
        case .isDone(let record): timer.didFireForTheLastTime(in: self, record.series)
        case .isElsewhere: timer.endCallElsewhere()
        }
    }

    static func fire(_ timer: Timer) {
        guard timer.isValid else { return }
        let (loop, ticket) = timer.state.withLock { ($0.loop, $0.ticket) }
        guard let loop else { return fireOutside(timer) }
        loop.checkThread()
        loop.withEngine { $0.beginCall(ticket) }
        timer.callOut()
        loop.endCall(of: timer, ticket, now: nil)
    }

    /// Fires a timer that is in no loop.
    private static func fireOutside(_ timer: Timer) {
        timer.callDepth.add(1, ordering: .relaxed)
        timer.callOut()
        timer.callDepth.subtract(1, ordering: .relaxed)
        timer.endCallElsewhere()
    }

    /// Delivers one event of one port.
    func servePort(_ run: inout Run) {
        let mode = run.modeIndex
        guard let delivery = withEngine({ $0.takeReadyPort(in: mode) }) else { return }
        if delivery.isFinal { Self.takeOut(delivery.port) }
        let link = delivery.port.link
        link.callOut(delivery.port, delivery.events)
        if delivery.isFinal { link.letGo() }
        // It may be known by another ticket now: its handler may have taken it out and put it in again.
        let ticket = link.state.withLock { $0.loop === self ? $0.ticket : .none }
        withEngine { $0.endServing(ticket) }
    }
}

extension UVRunLoop.Timer {
    /// Calls the handler.
    ///
    /// Stays out of line so that backtraces and profiles show whose turn it was.
    @inline(never)
    fileprivate func callOut() { handler.current?(self) }

    fileprivate func didFireForTheLastTime(in loop: UVRunLoop, _ series: FireSeries) {
        validity.store(false, ordering: .releasing)
        state.withLock { state in
            guard state.loop === loop else { return }
            state.loop = nil
            state.series = series
        }
        handler.letGo()
    }

    /// Ends a call during which the timer left its loop.
    ///
    /// A one-shot is done all the same; a repeating timer may wait in another loop, or again in this one, for its
    /// call to end.
    fileprivate func endCallElsewhere() {
        guard period != nil else { return invalidate() }
        let loop = state.withLock { state in
            state.loop?.withEngine { $0.schedule(state.ticket) }
            return state.loop
        }
        loop?.contentsDidChange()
    }
}

extension UVRunLoop.PortLink {
    /// Calls the port's handler.
    ///
    /// Stays out of line so that backtraces and profiles show whose turn it was.
    @inline(never)
    fileprivate func callOut(
        _ port: any UVRunLoop.PortSource,
        _ events: UVRunLoop.DescriptorSource.Events
    ) {
        deliver(port, events)
        callDepth.subtract(1, ordering: .relaxed)
    }
}
