extension UVRunLoop {
    // MARK: Running

    /// Runs in the default mode until the mode is empty or the run is stopped.
    ///
    /// See *Starting the Run Loop* in Apple's guide.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    public func run(file: StaticString = #fileID, line: UInt = #line) {
        run(mode: .default, for: nil, file: file, line: line)
    }

    /// Runs in a mode for a limited time.
    ///
    /// Returns at once, without notifying observers, if the mode is empty. A limit of zero or less
    /// makes exactly one pass that does not wait.
    ///
    /// See *Starting the Run Loop* and *Exiting the Run Loop* in Apple's guide.
    ///
    /// > Threading: The loop's own thread, also from within a handler; traps elsewhere.
    ///
    /// - Parameters:
    ///   - mode: The mode to serve.
    ///   - limit: How long to run; `nil` for no limit. The limit is tested at the end of a pass,
    ///     and ends a sleep at most 2 ms late.
    ///   - returnAfterSourceHandled: Whether to return after a pass that handled a custom or
    ///     port-based source.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    /// - Returns: Why the run ended.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    @discardableResult
    public func run(
        mode: Mode = .default,
        for limit: Duration?,
        returnAfterSourceHandled: Bool = false,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> RunResult {
        let local = localState(file: file, line: line)
        var date: Int64?
        if let limit {
            // Durations are compared by a call into the standard library, numbers in place.
            date =
                limit.attoseconds > 0
                ? time.addingSaturating(limit.nanosecondsRoundedUp) : .min
        }
        return run(
            mode,
            Run.Terms(
                limit: date,
                limitWasPast: date == .min,
                returnsAfterSource: returnAfterSourceHandled
            ),
            local
        )
    }

    /// Runs in a mode until a date of the loop's clock.
    ///
    /// Otherwise the same as ``run(mode:for:returnAfterSourceHandled:file:line:)``.
    ///
    /// > Threading: The loop's own thread, also from within a handler; traps elsewhere.
    ///
    /// - Parameters:
    ///   - mode: The mode to serve.
    ///   - limit: When to end; `nil` for never. A date in the past makes exactly one pass that does
    ///     not wait.
    ///   - returnAfterSourceHandled: Whether to return after a pass that handled a custom or
    ///     port-based source.
    ///   - file: The caller's file, for the message of a trap.
    ///   - line: The caller's line.
    /// - Returns: Why the run ended.
    @available(
        *,
        noasync,
        message: "A run keeps its thread. In a task, await the work, or use withThread(_:)."
    )
    @discardableResult
    public func run(
        mode: Mode = .default,
        until limit: Instant?,
        returnAfterSourceHandled: Bool = false,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> RunResult {
        let local = localState(file: file, line: line)
        let date = limit?.nanoseconds
        return run(
            mode,
            Run.Terms(
                limit: date,
                limitWasPast: date.map { $0 <= time } ?? false,
                returnsAfterSource: returnAfterSourceHandled
            ),
            local
        )
    }

    /// Runs in a mode until a source was handled, even while the mode is empty.
    ///
    /// - Parameters:
    ///   - mode: The mode to serve.
    ///   - limit: When to end, in nanoseconds of the loop's clock.
    /// - Returns: Why the run ended.
    package func runUntilSourceHandled(in mode: Mode, until limit: Int64) -> RunResult {
        let local = localState()
        return run(
            mode,
            Run.Terms(
                limit: limit,
                limitWasPast: limit <= time,
                returnsAfterSource: true,
                staysWhenEmpty: true
            ),
            local
        )
    }

    /// Runs in a mode until the run is stopped, even while the mode is empty.
    package func runUntilStopped(in mode: Mode) -> RunResult {
        let local = localState()
        return run(
            mode,
            Run.Terms(
                limit: nil,
                limitWasPast: false,
                returnsAfterSource: false,
                staysWhenEmpty: true
            ),
            local
        )
    }

    /// The mode of the innermost run; `nil` if the loop is not running.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    public var currentMode: Mode? {
        mode(ofRunIn: localState())
    }

    func mode(ofRunIn local: LocalState) -> Mode? {
        local.modeIndex.map { index in withEngine { $0.modes[index].mode } }
    }

    /// The number of active runs: 0 if the loop is not running, 1 in an outermost run.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    public var nestingLevel: Int { localState().nestingLevel }

    /// The current time of the loop's clock.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    @_disfavoredOverload
    public var now: Instant {
        checkThread()
        return Instant(nanoseconds: time)
    }

    // MARK: A run

    func run(
        _ mode: Mode,
        _ terms: consuming Run.Terms,
        _ local: consuming LocalState
    ) -> RunResult {
        home.doReleases()
        registerMainQueue()
        guard !local.isDriverClosed else { return .finished }
        // The rule applies even if there is nothing to run for.
        checkIsOutsideLibuv(local.withDriver { $0.isInsideLibuv })
        var run = Run(mode, local, terms)
        guard begin(&run, in: mode) else {
            if LoopTracing.isOn { tracedRunWasEmpty(in: mode) }
            reclaim(run.local)
            return .finished
        }
        let (outerMode, outerPass) = (run.local.modeIndex, run.local.pass)
        run.local.modeIndex = run.modeIndex
        let isNested = run.local.nestingLevel > 0
        run.local.nestingLevel = run.local.nestingLevel + 1
        // The handler on the stack may wait in this run for senders that wait for room in its port.
        run.local.servedReceiver?.servingDidEnd()
        let outerRun = runState.begin(isNested: isNested)

        var result = LoopTracing.isOn ? tracedPasses(&run, in: mode) : makePasses(&run)
        run.busyReceiver?.servingDidEnd()
        let wasStopped = runState.end(restoring: outerRun)
        if wasStopped || runState.isStoppedForGood { result = .stopped }
        run.local.nestingLevel = run.local.nestingLevel - 1
        run.local.modeIndex = outerMode
        run.local.pass = outerPass
        // A wake-up that this run cleared may have been meant for the outer run. A pending one is
        // still in the word.
        if isNested, run.clearedWakeUp { _ = wakeState.markWoken() }
        return result
    }

    /// Makes the passes of a run, between `entry` and `exit`.
    ///
    /// - Returns: Why they ended.
    func makePasses(_ run: inout Run) -> RunResult {
        notify(.entry, &run)
        defer { notify(.exit, &run) }
        while run.terms.performsQueuedWork || !runState.isStopped {
            if let reason = runOnePass(&run) { return reason }
        }
        return .stopped
    }

    /// Whether a run in the mode would return at once: there is nothing to run for, or the loop was
    /// ended.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    package func isEmpty(_ mode: Mode) -> Bool {
        let local = local.here
        registerMainQueue()
        return runState.isStoppedForGood
            || !withEngine { mayRun(in: mode, at: $0.modes.index(of: mode), &$0, local) }
    }

    /// Whether the loop's thread was told to stop, by ``Thread/stop(afterQueuedWork:)``.
    ///
    /// Every run then returns ``RunResult/stopped`` at once. A handler that runs the loop
    /// repeatedly to wait for something must end its wait when this is `true`, or it spins.
    ///
    /// > Threading: Any thread.
    public var isStopping: Bool {
        checkProcess()
        return runState.isStoppedForGood
    }

    /// Whether the loop was ended and its queued work discarded.
    package var isEndedAtOnce: Bool { runState.isEndedAtOnce }

    private func checkIsOutsideLibuv(_ isInsideLibuv: Bool) {
        require(
            !isInsideLibuv,
            """
            A libuv callback cannot run the loop, because the loop is inside uv_run. Pass the work \
            to perform(_:).
            """
        )
    }

    // MARK: A pass

    /// Makes one pass: the guide's steps 2 to 9.
    ///
    /// - Returns: Why the run ends, if it does.
    @inline(__always)
    private func runOnePass(_ run: inout Run) -> RunResult? {
        run.local.passCount = run.local.passCount &+ 1
        run.local.pass = run.local.passCount
        if LoopTracing.isOn { tracedPassBegins() }
        if home.doReleases() { run.discardClockReading() }
        if wakeState.clearWoken() { run.clearedWakeUp = true }
        notify(.beforeTimers, &run)
        notify(.beforeSources, &run)
        performBlocks(&run)
        let performedSource = fireSignalledSources(&run)
        if performedSource { performBlocks(&run) }

        if performedSource || run.terms.limitWasPast {
            poll(&run)
        } else if !findReadyPort(&run) {
            notify(.beforeWaiting, &run)
            sleep(&run)
            // A sole ready port is taken early only if nobody observes the sleep.
            if run.delivery == nil { notify(.afterWaiting, &run) }
        }

        let outcome = mayHaveEvent(&run) ? process(pendingEvent(&run), &run) : PassOutcome()
        // Runs nested in a handler have stored their own value.
        run.local.servedPort = outcome.servedPort
        performBlocks(&run)
        run.isInFirstPass = false
        return decide(&run, handledSource: performedSource || outcome.handledPort)
    }

    /// Whether step 9 may have an event to handle.
    @inline(__always)
    private func mayHaveEvent(_ run: inout Run) -> Bool {
        refresh(&run)
        return run.view.holdsTimers || run.delivery != nil
            || (run.view.holdsPorts && summary.mayHoldReady)
    }

    /// Step 9: port first, unless the previous pass served one and a timer is due.
    private func pendingEvent(_ run: inout Run) -> PassEvent {
        if let delivery = run.delivery.take() { return .port(delivery) }
        let mode = run.modeIndex
        let (prefersTimer, poll) = (run.local.servedPort, run.pollNumber)
        return withEngine { engine -> PassEvent in
            if let soonest = engine.soonestQueued(in: mode), soonest <= run.now(by: waker),
                prefersTimer || !engine.hasReadyPort(in: mode, since: poll)
            {
                engine.beginBatch(in: mode, now: run.now(by: waker))
                guard let first = takeNext(&run, &engine) else {
                    preconditionFailure("Bug in UVRunLoop: a due timer is in no batch.")
                }
                return .timers(first)
            }
            guard let delivery = engine.takeReadyPort(in: mode, since: poll) else {
                return .nothing
            }
            return .port(delivery)
        }
    }

    /// Handles the event of step 9.
    ///
    /// While its handlers run, passes of nested runs go by what was served here.
    private func process(_ event: consuming PassEvent, _ run: inout Run) -> PassOutcome {
        switch consume event {
        case .port(let delivery):
            run.local.servedPort = true
            return PassOutcome(servedPort: true, handledPort: serve(delivery, &run))
        case .timers(let first):
            run.local.servedPort = false
            // If all put their requests off to a later pass, none of them was the event.
            return fireTimers(from: first, &run) ? PassOutcome() : serveReadyPort(&run)
        case .nothing: return PassOutcome()
        }
    }

    /// Serves a port, if one is ready, in place of timers.
    @inline(never)
    private func serveReadyPort(_ run: inout Run) -> PassOutcome {
        let (mode, poll) = (run.modeIndex, run.pollNumber)
        guard let delivery = withEngine({ $0.takeReadyPort(in: mode, since: poll) }) else {
            return PassOutcome()
        }
        run.local.servedPort = true
        return PassOutcome(servedPort: true, handledPort: serve(delivery, &run))
    }

    /// Returns why the run ends, the first reason that applies, or `nil` if it continues.
    private func decide(_ run: inout Run, handledSource: Bool) -> RunResult? {
        if isStopped(run) { return .stopped }
        if run.terms.returnsAfterSource, handledSource { return .handledSource }
        if run.terms.limitWasPast { return .timedOut }
        if let limit = run.terms.limit, run.now(by: waker) >= limit { return .timedOut }
        registerMainQueue()
        refresh(&run)
        return run.holdsItems || holdsWork(for: run) ? nil : .finished
    }
}
