extension UVRunLoop {
    // MARK: Running

    /// Runs in the default mode until the mode is empty or the run is stopped.
    ///
    /// See *Starting the Run Loop* in Apple's guide.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    @available(*, noasync, message: "A run keeps its thread.")
    public func run() {
        run(mode: .default, for: nil)
    }

    /// Runs in a mode for a while.
    ///
    /// Returns at once, without telling any observer, when the mode is empty. A limit of zero or
    /// less makes exactly one pass that does not wait.
    ///
    /// See *Starting the Run Loop* and *Exiting the Run Loop* in Apple's guide.
    ///
    /// > Threading: The loop's own thread, from within a handler too; traps elsewhere.
    ///
    /// - Parameters:
    ///   - mode: What to serve.
    ///   - limit: How long to run; `nil` for as long as there is something to wait for. It is
    ///     tested at the end of a pass, and ends a sleep at most 2 ms late.
    ///   - returnAfterSourceHandled: Whether to return after a pass that handled a custom or
    ///     port-based source.
    /// - Returns: Why the run ended.
    @available(*, noasync, message: "A run keeps its thread.")
    @discardableResult
    public func run(
        mode: Mode = .default,
        for limit: Duration?,
        returnAfterSourceHandled: Bool = false
    ) -> RunResult {
        checkThread()
        var date: Int64?
        if let limit {
            date = limit > .zero ? remote.now.addingSaturating(limit.nanosecondsRoundedUp) : .min
        }
        return run(
            mode,
            Run.Terms(
                limit: date,
                limitWasPast: date == .min,
                returnsAfterSource: returnAfterSourceHandled
            )
        )
    }

    /// Runs in a mode until a moment of the loop's clock.
    ///
    /// Otherwise as ``run(mode:for:returnAfterSourceHandled:)``.
    ///
    /// > Threading: The loop's own thread, from within a handler too; traps elsewhere.
    ///
    /// - Parameters:
    ///   - mode: What to serve.
    ///   - limit: When to end; `nil` for never. One that is past makes exactly one pass that does
    ///     not wait.
    ///   - returnAfterSourceHandled: Whether to return after a pass that handled a custom or
    ///     port-based source.
    /// - Returns: Why the run ended.
    @available(*, noasync, message: "A run keeps its thread.")
    @discardableResult
    public func run(
        mode: Mode = .default,
        until limit: Instant?,
        returnAfterSourceHandled: Bool = false
    ) -> RunResult {
        checkThread()
        let date = limit?.nanoseconds
        return run(
            mode,
            Run.Terms(
                limit: date,
                limitWasPast: date.map { $0 <= remote.now } ?? false,
                returnsAfterSource: returnAfterSourceHandled
            )
        )
    }

    /// Runs in a mode until a source was handled, also while the mode is empty.
    ///
    /// - Parameters:
    ///   - mode: What to serve.
    ///   - limit: When to end, in nanoseconds of the loop's clock.
    /// - Returns: Why the run ended.
    package func runUntilSourceHandled(in mode: Mode, until limit: Int64) -> RunResult {
        checkThread()
        return run(
            mode,
            Run.Terms(
                limit: limit,
                limitWasPast: limit <= remote.now,
                returnsAfterSource: true,
                staysWhenEmpty: true
            )
        )
    }

    /// The mode of the innermost run; `nil` when the loop does not run.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    public var currentMode: Mode? {
        checkThread()
        return local.withValue(\.mode)
    }

    /// How many runs are on the stack: 0 when the loop does not run, 1 in an outermost run.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    public var nestingLevel: Int {
        checkThread()
        return local.withValue(\.nestingLevel)
    }

    /// The present moment of the loop's clock.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    @_disfavoredOverload
    public var now: Instant {
        checkThread()
        return Instant(nanoseconds: remote.now)
    }

    // MARK: Stopping and waking

    /// Ends the innermost run at the end of its present pass; does nothing when the loop does not
    /// run.
    ///
    /// It counts up to the moment at which the run is taken off, and is gone with the run.
    ///
    /// Not for use in a signal handler.
    ///
    /// > Threading: Any thread.
    public func stop() {
        checkProcess()
        guard innermostRun.stop() else { return }
        if word.markChanged() { remote.wake() }
    }

    /// Ends the loop's present sleep, or the coming one.
    ///
    /// The loop then makes another pass, and so finds sources that were signalled. A wake-up asked
    /// for before a pass has begun is forgotten by it, because that pass finds whatever it could
    /// announce.
    ///
    /// While the loop is awake it costs no system call. Not for use in a signal handler.
    ///
    /// > Threading: Any thread.
    public func wakeUp() {
        checkProcess()
        if word.markWoken() { remote.wake() }
    }

    /// Whether the loop sleeps, waiting for something to happen.
    ///
    /// > Threading: Any thread.
    public var isWaiting: Bool {
        checkProcess()
        return word.isAsleep
    }

    // MARK: A run

    func run(_ mode: Mode, _ terms: Run.Terms) -> RunResult {
        home.doReleases()
        noteMainQueue()
        guard let driver = local.withValue(\.driver) else { return .finished }
        // Also where there is nothing to run for.
        checkDriver(driver)
        var run = Run(mode, driver, terms)
        guard begin(&run, in: mode) else { return .finished }
        var outerMode: Mode? = mode
        let (outerReceiver, isNested) = local.withValue { local in
            swap(&local.mode, &outerMode)
            local.nestingLevel += 1
            return (local.servedReceiver, local.nestingLevel > 1)
        }
        // Its handler may wait in this run for those who wait for room in its port.
        outerReceiver?.servingDidEnd()
        let outerRun = innermostRun.begin(isNested: isNested)

        var result = makePasses(&run)
        run.busyReceiver?.servingDidEnd()
        let wasStopped = innermostRun.end(restoring: outerRun)
        if wasStopped || innermostRun.isEnded { result = .stopped }
        local.withValue { local in
            local.nestingLevel -= 1
            swap(&local.mode, &outerMode)
        }
        // What this run forgot may have been meant for the outer one. What it did not come to is
        // still in the word.
        if isNested, run.clearedWakeUp { _ = word.markWoken() }
        return result
    }

    /// Tells of entry and exit and makes the passes in between; answers why they ended.
    private func makePasses(_ run: inout Run) -> RunResult {
        notify(.entry, &run)
        defer { notify(.exit, &run) }
        while run.terms.isLast || !innermostRun.isStopped {
            if let reason = runOnePass(&run) { return reason }
        }
        return .stopped
    }

    /// Whether a run in the mode would return at once: there is nothing to run for, or the loop was
    /// ended for good.
    package func isEmpty(_ mode: Mode) -> Bool {
        noteMainQueue()
        return innermostRun.isEnded
            || !withEngine { mayRun(in: mode, at: $0.modes.index(of: mode), $0) }
    }

    /// Whether the loop's thread was told to stop, by ``Thread/stop(afterQueuedWork:)``.
    ///
    /// Every run then returns ``RunResult/stopped`` at once: a handler that waits for something in
    /// a loop of runs ends its wait when this is `true`, or it would spin.
    ///
    /// > Threading: Any thread.
    public var isStopping: Bool {
        checkProcess()
        return innermostRun.isEnded
    }

    /// Whether the loop was ended for good, and its queued work given up.
    package var isEndedAtOnce: Bool { innermostRun.isEndedAtOnce }

    private func checkDriver(_ driver: any LoopDriver) {
        require(
            !driver.isInsideLibuv,
            "A callback of libuv's cannot run the loop, which is inside uv_run. Hand the work to perform(_:)."
        )
    }

    /// Shows a run what its mode holds.
    ///
    /// - Returns: Whether there is something to run for.
    private func begin(_ run: inout Run, in mode: Mode) -> Bool {
        withEngine { engine in
            let index = engine.modes.index(of: mode)
            guard mayRun(in: mode, at: index, engine, evenIfEmpty: run.terms.staysWhenEmpty) else {
                return false
            }
            run.begin(in: index ?? engine.modes.makeIndex(of: mode), engine)
            return true
        }
    }

    /// Whether there is something to run for in a mode, which the loop may not know yet.
    private func mayRun(
        in mode: Mode,
        at index: Int?,
        _ engine: borrowing Engine,
        evenIfEmpty: Bool = false
    ) -> Bool {
        guard !engine.isClosed, !mode.isCommonName else { return false }
        if evenIfEmpty { return true }
        guard let index else { return holdsBlocks(for: mode.number, isCommon: false) }
        return engine.modes[index].holdsItems
            || holdsBlocks(for: mode.number, isCommon: engine.modes[index].isCommon)
    }

    // MARK: A pass

    /// Makes one pass: the guide's steps 2 to 9.
    ///
    /// - Returns: Why the run ends, if it does.
    private func runOnePass(_ run: inout Run) -> RunResult? {
        passCount.store(passCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        if home.doReleases() { run.timeHasPassed() }
        if word.clearWoken() { run.clearedWakeUp = true }
        notify(.beforeTimers, &run)
        notify(.beforeSources, &run)
        performBlocks(&run)
        let handledSignal = fireSignalledSources(&run)
        if handledSignal { performBlocks(&run) }

        if handledSignal || run.terms.limitWasPast {
            poll(&run)
        } else if !findReadyPort(&run) {
            notify(.beforeWaiting, &run)
            sleep(&run)
            // What was taken at once was taken because nobody was to be told before.
            if run.delivery == nil { notify(.afterWaiting, &run) }
        }

        let handledPort = mayHaveEvent(&run) && process(pendingEvent(&run), &run)
        // Runs nested in a handler have written their own.
        servedPort.store(handledPort, ordering: .relaxed)
        performBlocks(&run)
        run.isInFirstPass = false
        return decide(&run, handledSource: handledSignal || handledPort)
    }

    /// Whether step 9 has to look for something to handle.
    @inline(__always)
    private func mayHaveEvent(_ run: inout Run) -> Bool {
        refresh(&run)
        return run.view.holdsTimers || run.delivery != nil || (run.view.holdsPorts && mayHoldReady)
    }

    /// Step 9: port first, unless the previous pass served one and a timer is due.
    private func pendingEvent(_ run: inout Run) -> PassEvent {
        if let delivery = run.delivery.take() { return .port(delivery) }
        let mode = run.modeIndex
        let prefersTimer = servedPort.load(ordering: .relaxed)
        return withEngine { engine -> PassEvent in
            if let soonest = engine.modes[mode].timers.soonest, soonest <= run.now(by: remote),
                prefersTimer || !engine.hasReadyPort(in: mode)
            {
                engine.modes[mode].timers.beginBatch(now: run.now(by: remote))
                guard let first = takeNext(&run, &engine) else {
                    preconditionFailure("Bug in UVRunLoop: a due timer is in no batch.")
                }
                return .timers(first)
            }
            return engine.takeReadyPort(in: mode).map(PassEvent.port) ?? .nothing
        }
    }

    /// Handles the event of step 9.
    ///
    /// - Returns: Whether a port-based source was handled.
    private func process(_ event: PassEvent, _ run: inout Run) -> Bool {
        switch event {
        case .port(let delivery):
            servedPort.store(true, ordering: .relaxed)
            return serve(delivery, &run)
        case .timers(let first):
            servedPort.store(false, ordering: .relaxed)
            fireTimers(from: first, &run)
            return false
        case .nothing: return false
        }
    }

    /// Whether the run ends, and why: the first reason that applies.
    private func decide(_ run: inout Run, handledSource: Bool) -> RunResult? {
        if isStopped(run) { return .stopped }
        if run.terms.returnsAfterSource, handledSource { return .handledSource }
        if run.terms.limitWasPast { return .timedOut }
        if let limit = run.terms.limit, run.now(by: remote) >= limit { return .timedOut }
        noteMainQueue()
        refresh(&run)
        let isEmpty =
            !run.holdsItems && !holdsBlocks(for: run.modeNumber, isCommon: run.view.isCommon)
        return isEmpty ? .finished : nil
    }

    // MARK: What a run looks at

    /// Brings the run's idea of its mode up to date.
    @inline(__always)
    func refresh(_ run: inout Run) {
        if publishedVersion != run.view.version { updateView(&run) }
    }

    private func updateView(_ run: inout Run) {
        let mode = run.modeIndex
        withEngine { $0.show(mode, in: &run.view) }
    }
}
