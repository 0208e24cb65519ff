extension UVRunLoop {
    /// How far a run may go on serving what it knows to be ready before it asks the kernel again.
    static let maxSkippedPolls = 64
    /// Nanoseconds, for as many skippedPolls.
    ///
    /// A look that found more may do for all of it: where very much is ready, looks are dear.
    static let maxPollAge: Int64 = 1_000_000

    // MARK: Steps 5 and 7

    /// Step 5: whether a port-based source of the mode is ready.
    ///
    /// When nobody is told of sleeping, the sleep itself asks this: a ready port ends it at once,
    /// and one call to the kernel does for both.
    func findReadyPort(_ run: inout Run) -> Bool {
        refresh(&run)
        guard run.view.holdsPorts else { return false }
        let mode = run.modeIndex
        let hasPolled = run.latestPoll != nil
        if hasPolled, knowsReadyPort(in: mode), canReuseLastPoll(&run) { return true }
        guard run.view.isSleepObserved else { return false }
        pollKernel(&run)
        return knowsReadyPort(in: mode)
    }

    private func knowsReadyPort(in mode: Int) -> Bool {
        mayHoldReady && withEngine { $0.hasReadyPort(in: mode) }
    }

    /// Asks the kernel what is ready, without waiting, unless the latest answer is still good.
    ///
    /// It is not when a descriptor may be ready and there is nothing to serve before it: everybody
    /// would notice.
    func poll(_ run: inout Run) {
        let mayWait = !run.view.holdsDescriptors || knowsReadyPort(in: run.modeIndex)
        if !mayWait || !canReuseLastPoll(&run) { pollKernel(&run) }
    }

    private func pollKernel(_ run: inout Run) {
        armDescriptors(&run)
        run.driver.poll()
        run.timeHasPassed()
        noteReadyPorts(&run)
    }

    /// Step 7: sleeps until there is something to do for the run.
    ///
    /// The mark in the word is removed before the contents are looked at, and the driver falls
    /// asleep only if it is still not there: whatever comes meanwhile is seen by the look or keeps
    /// the driver awake. What changes nothing for this run, such as another thread's new timer, is
    /// taken into account without leaving.
    func sleep(_ run: inout Run) {
        var hasPolled = false
        while true {
            word.clearChanged()
            if home.doReleases() { run.timeHasPassed() }
            noteMainQueue()
            switch sleepDecision(&run) {
            case .changed: continue
            case .somethingToDo:
                if !hasPolled { poll(&run) }
                return
            case .sleep(let sleep):
                run.driver.wait(until: sleep.moment, now: sleep.now)
                run.timeHasPassed()
                if noteReadyPorts(&run) || word.isWoken || isOver(sleep, &run) { return }
                hasPolled = true
            }
        }
    }

    /// A sleep that nothing stands in the way of.
    private struct Sleep {
        /// When to wake; `nil` for no date.
        let moment: Moment?
        /// The time as it was before.
        let now: Int64
        /// From when on there is something to do; the end of time for no date.
        let end: Int64
    }

    private func isOver(_ sleep: Sleep, _ run: inout Run) -> Bool {
        sleep.end < .max && run.now(by: remote) >= sleep.end
    }

    /// What a look at the contents says about the coming sleep.
    private enum SleepDecision {
        case somethingToDo
        case sleep(Sleep)
        /// The contents are not what the run takes them to be.
        case changed
    }

    private func sleepDecision(_ run: inout Run) -> SleepDecision {
        armDescriptors(&run)
        let contents = contents(for: run)
        if word.isWoken || isStopped(run) { return .somethingToDo }
        guard contents.version == run.view.version, !contents.hasUnwatched else { return .changed }
        let hasBlock = holdsBlocks(for: run.modeNumber, isCommon: run.view.isCommon)
        if contents.hasWork || hasBlock || !run.holdsItems { return .somethingToDo }
        let end = min(contents.soonest ?? .max, run.terms.limit ?? .max)
        guard end < .max else { return .sleep(Sleep(moment: nil, now: 0, end: end)) }
        let now = run.now(by: remote)
        if end <= now { return .somethingToDo }
        let moment = Moment.earlier(
            contents.deadline.map(Moment.init),
            run.terms.limit.map { Moment(limit: $0, now: now) }
        )
        return .sleep(Sleep(moment: moment, now: now, end: end))
    }

    /// What the run's mode holds, without the engine's lock when it holds no timers and the summary
    /// says the rest.
    ///
    /// Whoever changes the engine publishes the summary, and marks the word after that: the mark
    /// was there when this look's mark was removed, and the summary is seen, or it will be there
    /// when the loop wants to fall asleep.
    @inline(__always)
    private func contents(for run: borrowing Run) -> Engine.SleepView {
        if !run.view.holdsTimers, isQuiet(since: run.view) {
            return Engine.SleepView(
                version: run.view.version,
                hasWork: false,
                hasUnwatched: false,
                soonest: nil,
                deadline: nil
            )
        }
        let mode = run.modeIndex
        return withEngine { $0.sleepView(of: mode) }
    }

    // MARK: The kernel

    /// Whether the latest look of this run is recent enough to do for another one, which counts as
    /// left out then.
    private func canReuseLastPoll(_ run: inout Run) -> Bool {
        guard !run.isInFirstPass, var latest = run.latestPoll,
            latest.watchRequestCount == watchRequestCount.load(ordering: .acquiring),
            latest.number == pollCount.load(ordering: .relaxed),
            latest.skippedPolls < latest.maxSkippedPolls, run.now(by: remote) < latest.end
        else { return false }
        latest.skippedPolls += 1
        run.latestPoll = latest
        if run.view.holdsDescriptors { withEngine { $0.noteSkippedPoll() } }
        return true
    }

    /// Has the kernel watch what this run may serve and it does not watch yet: usually nothing.
    @inline(__always)
    private func armDescriptors(_ run: inout Run) {
        refresh(&run)
        if mayHoldUnwatched { carryOutOrders(&run) }
    }

    private func carryOutOrders(_ run: inout Run) {
        let mode = run.modeIndex
        let orders = withEngine { $0.takeWatchOrders(for: mode) }
        if !orders.isEmpty { watch(orders, &run) }
    }

    private func watch(_ orders: [WatchOrder], _ run: inout Run) {
        let mode = run.modeIndex
        run.driver.watch(orders) { order in
            withEngine { $0.isCurrent(order) }
        } refused: { order in
            withEngine { $0.noteRefusal(of: order, in: mode) }
        }
    }

    /// Takes down which ports the kernel found ready, and has it keep quiet about those this run
    /// may not serve.
    ///
    /// - Returns: Whether there was one that it may.
    @discardableResult
    private func noteReadyPorts(_ run: inout Run) -> Bool {
        let number = pollCount.load(ordering: .relaxed) + 1
        pollCount.store(number, ordering: .relaxed)
        var (found, isForRun) = (0, false)
        let readyCount = run.driver.readyCount
        if readyCount > 0 {
            (found, isForRun) = noteReports(of: number, mayTake: readyCount == 1, &run)
        } else if run.view.holdsPorts, mayHoldReady || run.hasSkippedPoll {
            withEngine { $0.pollNumber = number }
        }
        // A run that ends with the next source as a rule needs no second look.
        guard !run.terms.limitWasPast, !run.terms.returnsAfterSource else { return isForRun }
        let turns = max(1, found / Self.maxSkippedPolls)
        run.latestPoll = PollCache(
            end: run.now(by: remote) + Int64(turns) * Self.maxPollAge,
            maxSkippedPolls: turns * Self.maxSkippedPolls,
            version: publishedVersion,
            watchRequestCount: watchRequestCount.load(ordering: .acquiring),
            number: number
        )
        return isForRun
    }

    /// Notes what the driver reports of a look, or takes it for this pass at once.
    ///
    /// - Parameters:
    ///   - poll: The poll's number.
    ///   - mayTake: Whether there is one report only.
    ///   - run: The run.
    /// - Returns: How many reports there are, and whether the run may serve any of them.
    private func noteReports(
        of poll: Int64,
        mayTake: Bool,
        _ run: inout Run
    ) -> (count: Int, isForRun: Bool) {
        let mode = run.modeIndex
        let driver = run.driver
        // Another thread may have added an observer while the loop slept.
        refresh(&run)
        // Whoever is told before the port is served may change what there is to serve.
        let mayTake = mayTake && !run.view.isSleepObserved
        let now = mayTake && run.view.holdsTimers ? run.now(by: remote) : 0
        var (count, isForRun) = (0, false)
        driver.forEachReady { report in
            count += 1
            let noted = withEngine { engine in
                if engine.pollNumber != poll { engine.pollNumber = poll }
                if mayTake, let delivery = engine.takeSoleReadyPort(report, in: mode, now: now) {
                    run.delivery = delivery
                    return Engine.Noted.isForRun
                }
                return engine.note(report, in: mode)
            }
            switch noted {
            case .isForRun: isForRun = true
            case .isForNobody: break
            case .rearm(let order):
                let isCarriedOut = driver.rearm(order)
                if !isCarriedOut { withEngine { $0.noteUnwatched(order.descriptor) } }
            }
        }
        return (count, isForRun)
    }
}
