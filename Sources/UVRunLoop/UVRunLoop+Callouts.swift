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
        guard let record = withEngine({ $0.endCall(ticket, now: now) }) else { return }
        timer.didFireForTheLastTime(in: self, on: record.series.date)
    }

    static func fire(_ timer: Timer) {
        guard timer.isValid else { return }
        let (loop, ticket) = timer.state.withLock { ($0.loop, $0.ticket) }
        guard let loop else {
            timer.callOut()
            if timer.period == nil { timer.invalidate() }
            return
        }
        loop.checkThread()
        loop.withEngine { $0.beginCall(ticket) }
        timer.callOut()
        loop.endCall(of: timer, ticket, now: nil)
    }

    /// Delivers one event of one port.
    func servePort(_ run: inout Run) {
        let mode = run.modeIndex
        guard let delivery = withEngine({ $0.takeReadyPort(in: mode) }) else { return }
        if delivery.isFinal { Self.invalidate(delivery.port) }
        delivery.port.link.callOut(delivery.port, delivery.events)
        withEngine { $0.endServing(delivery.ticket) }
    }
}

extension UVRunLoop.Timer {
    /// Calls the handler.
    ///
    /// Stays out of line so that backtraces and profiles show whose turn it was.
    @inline(never)
    fileprivate func callOut() { handler.value(self) }

    fileprivate func didFireForTheLastTime(in loop: UVRunLoop, on date: Int64) {
        validity.store(false, ordering: .releasing)
        state.withLock { state in
            guard state.loop === loop else { return }
            state.loop = nil
            state.date = date
        }
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
    }
}
