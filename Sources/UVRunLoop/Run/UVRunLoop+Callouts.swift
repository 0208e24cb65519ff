extension UVRunLoop {
    // Each function takes the next item while it holds the lock, releases the lock, then calls out.
    // Handlers may change the contents, run the loop again, or end the run.

    // MARK: Observers

    /// Notifies the mode's observers of an activity.
    ///
    /// Observers added during the notification are not called.
    @inline(__always)
    func notify(_ activity: Activities, _ run: inout Run) {
        refresh(&run)
        guard run.view.observers.observed.contains(activity) else { return }
        callObservers(activity, run.view)
        run.discardClockReading()
    }

    /// Not inlined: an activity without observers, as most are, is passed over in place.
    @inline(never)
    private func callObservers(_ activity: Activities, _ view: borrowing Engine.View) {
        if LoopTracing.isOn { return callTracedObservers(activity, view) }
        view.observers.forEach(observing: activity) { $0.callOut(activity) }
    }

    // MARK: Step 4

    /// Performs the signalled sources of the mode; only the first in a run that returns after one
    /// source.
    ///
    /// - Returns: Whether a source was handled.
    @inline(__always)
    func performSignalledSources(_ run: inout Run) -> Bool {
        summary.mayHoldSignalledSources && takeAndPerformSignalledSources(&run)
    }

    private func takeAndPerformSignalledSources(_ run: inout Run) -> Bool {
        let mode = run.modeIndex
        let returnsAfterSource = run.terms.returnsAfterSource
        var first: Engine.FirstSignalled?
        let count = withEngine { engine -> Int in
            let count = engine.modes[mode].signalled.count
            // A single source needs no batch.
            if count == 1 || returnsAfterSource { first = engine.takeFirstSignalled(in: mode) }
            return count
        }
        // All signalled sources may be in other modes.
        guard count > 0 else { return false }
        defer { run.discardClockReading() }
        guard let first = first.take() else {
            return performAllSignalledSources(in: mode, run.local)
        }
        return perform(first, orNextIn: mode)
    }

    /// Performs a source that was taken; if another loop has performed it first, the next signalled one.
    private func perform(_ first: consuming Engine.FirstSignalled, orNextIn mode: Int) -> Bool {
        var next: Engine.FirstSignalled? = consume first
        while let taken = next.take() {
            if taken.source.takeSignal(clearedIn: self, taken.ticket), callOut(taken.source) {
                return true
            }
            next = withEngine { $0.takeFirstSignalled(in: mode) }
        }
        return false
    }

    @inline(__always)
    private func callOut(_ source: Source) -> Bool {
        LoopTracing.isOn ? callTraced(source) : source.callOut()
    }

    /// Performs the sources that are signalled now; sources signalled meanwhile wait for the next
    /// pass.
    private func performAllSignalledSources(in mode: Int, _ local: LocalState) -> Bool {
        var batch = exchange(&local.spareSources, with: [])
        withEngine { $0.collectSignalled(in: mode, into: &batch) }
        batch.sort { $0.turn < $1.turn }
        var handledSource = false
        for signalled in batch where signalled.source.takeSignal() {
            if callOut(signalled.source) { handledSource = true }
        }
        batch.removeAll(keepingCapacity: true)
        local.spareSources = batch
        return handledSource
    }

    // MARK: Steps 5 and 9

    /// Delivers one event of one port.
    ///
    /// - Returns: Whether the port handled it.
    @inline(__always)
    func serve(_ delivery: borrowing Engine.Delivery, _ run: inout Run) -> Bool {
        if let busy = run.local.busyReceiver, busy !== delivery.port.link.receiver {
            wakeBlockedSenders(run.local)
        }
        let isFinal = delivery.refusal != nil && !delivery.port.link.receiver.outlivesRefusal
        if isFinal { Self.takeOut(delivery.port.link) }
        let isInProcess = delivery.port.link.isInProcess
        let result =
            LoopTracing.isOn
            ? callTraced(delivery, isInProcess, &run) : call(delivery, isInProcess, &run)
        run.discardClockReading()
        if isFinal { delivery.port.link.receiver.releaseHandler() }
        let (ticket, hasMore) = (delivery.ticket, result.hasMore)
        let isStillInLoop = withEngine { $0.endCall(of: ticket, hasMore: hasMore) }
        if !isStillInLoop { delivery.port.link.endCallElsewhere(hasMore: hasMore) }
        if isInProcess { endServing(delivery.port.link.receiver, hasMore: hasMore, run.local) }
        return result.wasHandled
    }

    @inline(__always)
    func call(
        _ delivery: borrowing Engine.Delivery,
        _ isInProcess: Bool,
        _ run: inout Run
    ) -> ServeResult {
        isInProcess ? callOutInProcess(delivery, &run) : callOut(delivery, &run)
    }

    /// Calls a port whose senders wait for room; a run nested in the call lets them go on.
    private func callOutInProcess(
        _ delivery: borrowing Engine.Delivery,
        _ run: inout Run
    ) -> ServeResult {
        let local = run.local
        let outerReceiver = local.servedReceiver
        local.servedReceiver = delivery.port.link.receiver
        defer { local.servedReceiver = outerReceiver }
        return callOut(delivery, &run)
    }

    /// Calls a port, and again while it has more events and a full pass would serve nothing else.
    private func callOut(_ delivery: borrowing Engine.Delivery, _ run: inout Run) -> ServeResult {
        let result = delivery.port.link.callOut(
            delivery.port.object,
            delivery.events,
            delivery.refusal
        )
        guard result.hasMore, var direct = directDelivery(of: delivery.ticket, &run) else {
            return result
        }
        let further = delivery.port.link.callOutForMore(delivery.port.object) {
            stillHolds(&direct)
        }
        run.reusablePoll = direct.poll
        return ServeResult(
            wasHandled: result.wasHandled || further.wasHandled,
            hasMore: further.hasMore
        )
    }

    /// Wakes the senders that wait for room in a port that was served: at once if it has no more
    /// messages, otherwise as soon as the loop does anything but serve it.
    private func endServing(_ receiver: any PortReceiver, hasMore: Bool, _ local: LocalState) {
        guard !hasMore else { return local.busyReceiver = receiver }
        if local.busyReceiver != nil { local.busyReceiver = nil }
        receiver.wakeBlockedSenders()
    }

    /// Wakes the senders that wait for room in the port that was served last, unless that was done
    /// since.
    @inline(__always)
    func wakeBlockedSenders(_ local: LocalState) {
        if local.busyReceiver != nil { wakeThoseBlocked(local) }
    }

    @inline(never)
    private func wakeThoseBlocked(_ local: LocalState) {
        let busy = local.busyReceiver
        local.busyReceiver = nil
        busy?.wakeBlockedSenders()
    }
}

extension UVRunLoop.PortLink {
    /// Calls the port's receiver with an event, or with a refusal.
    ///
    /// Never inlined, so that backtraces and profiles show the callout.
    @inline(never)
    fileprivate func callOut(
        _ port: any AnyObject & Sendable,
        _ events: UVRunLoop.DescriptorSource.Events,
        _ refusal: UVError?
    ) -> ServeResult {
        if let refusal { return receiver.receive(port, refusal: refusal) }
        return receiver.receive(port, events)
    }

    /// Calls the port's receiver for further events while nothing else is to be served.
    ///
    /// Never inlined, so that backtraces and profiles show the callout.
    @inline(never)
    fileprivate func callOutForMore(
        _ port: any AnyObject & Sendable,
        while mayGoOn: () -> Bool
    ) -> ServeResult {
        receiver.receiveMore(port, while: mayGoOn)
    }

    /// Ends a call during which the port left its loop.
    ///
    /// It may be in another loop by now, or in this one again, where it is not served until its
    /// call has ended.
    fileprivate func endCallElsewhere(hasMore: Bool) {
        owner.withLock { _, engine in
            _ = engine.endCall(of: ticket, hasMore: hasMore)
        } nowhere: {
            isBeingCalled = false
        } afterwards: { loop in
            loop.contentsDidChange()
        }
    }
}
