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
        if word.noteChange() { remote.kick() }
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
        if word.noteWakeUp() { remote.kick() }
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
        guard var run = runLikeALatestOne(in: mode, terms) ?? newRun(in: mode, terms) else {
            return .finished
        }
        checkDriver(run.driver)
        var outerMode: Mode? = mode
        let (outerReceiver, isNested) = local.withValue { local in
            swap(&local.mode, &outerMode)
            local.nestingLevel += 1
            return (local.servedReceiver, local.nestingLevel > 1)
        }
        // Its handler may wait in this run for those who wait for room in its port.
        outerReceiver?.turnDidEnd()
        let outerRun = innermostRun.begin(isNested: isNested)

        var result = makePasses(&run)
        run.busyReceiver?.turnDidEnd()
        let wasStopped = innermostRun.end(restoring: outerRun)
        if wasStopped || innermostRun.isEnded { result = .stopped }
        local.withValue { local in
            local.nestingLevel -= 1
            swap(&local.mode, &outerMode)
        }
        // What this run forgot may have been meant for the outer one. What it did not come to is
        // still in the word.
        if isNested, run.forgotWakeUp { _ = word.noteWakeUp() }
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
        return innermostRun.isEnded || look(at: mode) == nil
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

    /// A run that begins with what an earlier one in the mode began with, if nothing has changed
    /// since.
    @inline(__always)
    private func runLikeALatestOne(in mode: Mode, _ terms: Run.Terms) -> Run? {
        let version = publishedVersion
        return local.withValue { local -> Run? in
            if local.earlierStart?.mode == mode { swap(&local.latestStart, &local.earlierStart) }
            guard let start = local.latestStart, start.mode == mode, start.view.version == version,
                terms.staysWhenEmpty || start.view.holdsItems, let driver = local.driver
            else { return nil }
            return Run(start, driver: driver, terms)
        }
    }

    /// A run in a mode that is looked at first; `nil` when there is nothing to run for.
    private func newRun(in mode: Mode, _ terms: Run.Terms) -> Run? {
        guard let driver = local.withValue(\.driver) else { return nil }
        // Also where there is nothing to run for.
        checkDriver(driver)
        guard let (index, view) = look(at: mode, evenIfEmpty: terms.staysWhenEmpty) else {
            return nil
        }
        let start = RunStart(mode: mode, index: index, view: view)
        let forgotten = local.withValue { local in
            let isOther = local.latestStart.map { $0.mode != mode } ?? false
            let forgotten = isOther ? local.earlierStart : nil
            if isOther { local.earlierStart = local.latestStart }
            return (forgotten, exchange(&local.latestStart, with: start))
        }
        withExtendedLifetime(forgotten) {}
        return Run(start, driver: driver, terms)
    }

    private func checkDriver(_ driver: any LoopDriver) {
        require(
            !driver.isInsideLibuv,
            "A callback of libuv's cannot run the loop, which is inside uv_run. Hand the work to perform(_:)."
        )
    }

    private func look(
        at mode: Mode,
        evenIfEmpty: Bool = false
    ) -> (index: Int, view: Engine.View)? {
        guard mode != .common else { return nil }
        return withEngine { engine -> (Int, Engine.View)? in
            guard !engine.isClosed else { return nil }
            let known = engine.modes.index(of: mode)
            let isCommon = known.map { engine.modes[$0].isCommon } ?? false
            let holdsItems = known.map { engine.modes[$0].holdsItems } ?? false
            guard evenIfEmpty || holdsItems || holdsBlocks(for: mode.number, isCommon: isCommon)
            else {
                return nil
            }
            let index = engine.modes.makeIndex(of: mode)
            return (index, engine.view(of: index))
        }
    }

    // MARK: A pass

    /// Makes one pass: the guide's steps 2 to 9.
    ///
    /// - Returns: Why the run ends, if it does.
    private func runOnePass(_ run: inout Run) -> RunResult? {
        passCount.store(passCount.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        home.doReleases()
        if word.forgetWakeUp() { run.forgotWakeUp = true }
        notify(.beforeTimers, &run)
        notify(.beforeSources, &run)
        performBlocks(&run)
        let handledSignal = fireSignalledSources(&run)
        if handledSignal { performBlocks(&run) }

        if handledSignal || run.terms.limitWasPast {
            look(&run)
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
            let soonest = engine.modes[mode].timers.soonest
            let isTimerDue = soonest.map { $0 <= remote.now } ?? false
            if isTimerDue, prefersTimer || !engine.hasReadyPort(in: mode) { return .timers }
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
        case .timers:
            servedPort.store(false, ordering: .relaxed)
            fireDueTimers(&run)
            return false
        case .nothing: return false
        }
    }

    /// Whether the run ends, and why: the first reason that applies.
    private func decide(_ run: inout Run, handledSource: Bool) -> RunResult? {
        if isStopped(run) { return .stopped }
        if run.terms.returnsAfterSource, handledSource { return .handledSource }
        if run.terms.limitWasPast { return .timedOut }
        if let limit = run.terms.limit, remote.now >= limit { return .timedOut }
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
        if publishedVersion != run.view.version { lookAnew(&run) }
    }

    private func lookAnew(_ run: inout Run) {
        let mode = run.modeIndex
        run.view = withEngine { $0.view(of: mode) }
        forgetStarts()
    }

    /// Lets go of what the latest runs knew, which keeps observers that may have left since.
    func forgetStarts() {
        let starts = local.withValue { ($0.latestStart.take(), $0.earlierStart.take()) }
        withExtendedLifetime(starts) {}
    }

    func holdsBlocks(for mode: Int, isCommon: Bool) -> Bool {
        mayHoldBlocks && withInbox { $0.holdsBlock(for: mode, isCommon: isCommon) }
    }
}
