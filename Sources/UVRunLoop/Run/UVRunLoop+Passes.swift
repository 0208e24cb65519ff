extension UVRunLoop {
    // MARK: A run

    func run(
        _ mode: Mode,
        _ terms: consuming Run.Terms,
        _ local: consuming LocalState
    ) -> RunResult {
        if home.performReleases() { checkProcess() }
        registerMainQueue()
        guard !local.isDriverClosed else { return .finished }
        // The rule applies even if there is nothing to run for.
        require(
            !local.withDriver { $0.isInsideLibuv },
            """
            A libuv callback cannot run the loop, because the loop is inside uv_run. Pass the work \
            to perform(_:).
            """
        )
        var run = Run(mode, local, terms)
        // A port's handler may run the loop until a sender is done that waits for room in the port:
        // the sender gets it, even if the mode is empty.
        run.local.receiverBeingCalled?.handOverRoom()
        guard begin(&run, in: mode) else {
            if LoopTracing.hasTracers { tracedRunWasEmpty(in: mode) }
            reclaim(run.local)
            return .finished
        }
        let (outerMode, outerPass) = (run.local.modeIndex, run.local.pass)
        if summary.holdsExpectations, outerMode != run.modeIndex { pollForExpected(run.local) }
        run.local.modeIndex = run.modeIndex
        let isNested = run.local.nestingLevel > 0
        run.local.nestingLevel = run.local.nestingLevel + 1
        let outerRun = runState.begin(isNested: isNested)

        var result = LoopTracing.isOn ? tracedPasses(&run, in: mode) : makePasses(&run)
        let wasStopped = runState.end(restoring: outerRun)
        if wasStopped || runState.isStoppedForGood {
            checkProcess()
            result = .stopped
        }
        run.local.nestingLevel = run.local.nestingLevel - 1
        run.local.modeIndex = outerMode
        run.local.pass = outerPass
        // A wake-up that this run cleared may have been meant for the outer run. A pending one is
        // still in the word.
        if isNested, run.clearedWakeUp { _ = wakeState.markWoken() }
        // The thread may not run its loop again.
        if home.performReleases() { checkProcess() }
        return result
    }

    /// Makes the passes of a run, between `entry` and `exit`.
    ///
    /// - Returns: Why they ended.
    func makePasses(_ run: inout Run) -> RunResult {
        notify(.entry, &run)
        defer {
            if summary.holdsExpectations { pollForExpected(run.local) }
            notify(.exit, &run)
        }
        while run.terms.performsQueuedWork || !runState.isStopped {
            if let reason = runOnePass(&run) { return reason }
        }
        checkProcess()
        return .stopped
    }

    // MARK: A pass

    /// Makes one pass: the guide's steps 2 to 9.
    ///
    /// - Returns: Why the run ends, if it does.
    @inline(__always)
    private func runOnePass(_ run: inout Run) -> RunResult? {
        beginPass(&run)
        notify(.beforeTimers, &run)
        notify(.beforeSources, &run)
        performBlocks(&run)
        let performedSource = performSignalledSources(&run)
        if performedSource { performBlocks(&run) }

        if performedSource || run.terms.limitWasPast {
            poll(&run)
        } else if !findReadyPort(&run) {
            notify(.beforeWaiting, &run)
            sleep(&run)
            // A sole ready port is taken early only if nobody observes the sleep.
            if run.delivery == nil { notify(.afterWaiting, &run) }
        }

        let handledPort = mayHaveEvent(&run) ? handle(pendingEvent(&run), &run) : nil
        // Runs nested in a handler have stored their own value.
        run.local.servedPort = handledPort != nil
        performBlocks(&run)
        run.isInFirstPass = false
        return decide(&run, handledSource: performedSource || handledPort == true)
    }

    /// Begins step 2: numbers the pass, performs posted releases, and clears a pending wake-up,
    /// because the pass checks everything anyway.
    @inline(__always)
    private func beginPass(_ run: inout Run) {
        run.local.passCount = run.local.passCount &+ 1
        run.local.pass = run.local.passCount
        if LoopTracing.isOn { tracedPassBegins() }
        if home.performReleases() { userCodeMayHaveRun(&run) }
        if wakeState.clearWoken() { run.clearedWakeUp = true }
    }

    /// Whether step 9 may have an event to handle.
    @inline(__always)
    private func mayHaveEvent(_ run: inout Run) -> Bool {
        // Refreshing the view may run user code, when it releases an observer: not before a port
        // that was taken is served, because that code may remove the port.
        if run.delivery != nil { return true }
        refresh(&run)
        return run.view.holdsTimers || (run.view.holdsPorts && summary.mayHoldReady)
    }

    /// Step 9: port first, unless the previous pass served one and a timer is due; see
    /// ``PassContest``.
    private func pendingEvent(_ run: inout Run) -> PassEvent {
        if summary.holdsExpectations { confirmFirstPort(&run) }
        if let delivery = run.delivery.take() { return .port(delivery) }
        let mode = run.modeIndex
        let prefersTimer = run.local.servedPort
        return contents.withEngine { engine -> PassEvent in
            let isDue = engine.soonestQueued(in: mode).map { $0 <= run.now(by: waker) } ?? false
            if isDue, engine.timersComeFirst(in: mode, prefersTimer) {
                engine.beginBatch(in: mode, now: run.now(by: waker))
                guard let first = takeNext(&run, &engine) else {
                    fail("Bug in UVRunLoop: a due timer is in no batch.")
                }
                return .timers(first)
            }
            guard let delivery = engine.takeReadyPort(in: mode, after: run.local.pollCount) else {
                return .nothing
            }
            if !isDue { engine.modes[mode].contest.portIsAlone() }
            return .port(delivery)
        }
    }

    /// Polls if the first port is only expected to be ready: the one before it, for which a poll was
    /// skipped, has gone.
    @inline(never)
    private func confirmFirstPort(_ run: inout Run) {
        let mode = run.modeIndex
        let isExpected = contents.withEngine { $0.isFirstPortExpected(in: mode) }
        if isExpected, run.delivery == nil { pollKernel(&run) }
    }

    /// Handles the event of step 9.
    ///
    /// While its handlers run, passes of nested runs go by what was served here.
    ///
    /// - Returns: Whether a port handled it, and so counts as a handled source; `nil` if no port was
    ///   served.
    private func handle(_ event: consuming PassEvent, _ run: inout Run) -> Bool? {
        switch consume event {
        case .port(let delivery): return serveAsEvent(delivery, &run)
        case .timers(let first):
            run.local.servedPort = false
            // If all were perform requests that wait for a later pass, none was the event.
            return fireTimers(from: first, &run) ? nil : serveReadyPort(&run)
        case .nothing: return nil
        }
    }

    /// Serves a port, if one is ready, in place of timers.
    @inline(never)
    private func serveReadyPort(_ run: inout Run) -> Bool? {
        let (mode, poll) = (run.modeIndex, run.local.pollCount)
        let delivery = contents.withEngine { $0.takeReadyPort(in: mode, after: poll) }
        guard let delivery else { return nil }
        return serveAsEvent(delivery, &run)
    }

    @inline(__always)
    private func serveAsEvent(_ delivery: borrowing Engine.Delivery, _ run: inout Run) -> Bool {
        run.local.servedPort = true
        return serve(delivery, &run)
    }

    /// Returns why the run ends, the first reason that applies, or `nil` if it continues.
    private func decide(_ run: inout Run, handledSource: Bool) -> RunResult? {
        // An end condition that is met counts as a handled source.
        if endsAfterThisPass(run) {
            checkProcess()
            return runState.isStopped ? .stopped : .handledSource
        }
        if run.terms.returnsAfterSource, handledSource { return .handledSource }
        if run.terms.limitWasPast { return .timedOut }
        if let limit = run.terms.limit, run.now(by: waker) >= limit { return .timedOut }
        registerMainQueue()
        refresh(&run)
        return run.holdsItems || holdsWork(for: run) ? nil : .finished
    }
}
