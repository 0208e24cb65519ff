extension UVRunLoop {
    // Steps 5 and 7: polling, and recording what a poll reports.

    /// How many polls a run may skip while it serves ports that are known to be ready.
    static let maxSkippedPolls = 64
    /// How long the result of a poll is reused, in nanoseconds.
    ///
    /// A poll that finds many times ``maxSkippedPolls`` descriptors is reused as many times longer,
    /// because polling is expensive when many are ready.
    static let maxPollAge: Int64 = 1_000_000

    /// Step 5: returns whether a port-based source of the mode is ready.
    ///
    /// If nobody observes the sleep, step 7 finds out instead: a ready port ends the sleep at once,
    /// and one system call does for both steps.
    @inline(__always)
    func findReadyPort(_ run: inout Run) -> Bool {
        refresh(&run)
        guard run.view.holdsPorts else { return false }
        if run.reusablePoll != nil, knowsPortToServe(run), reuseLatestPoll(&run) { return true }
        guard run.view.isSleepObserved else { return false }
        pollKernel(&run)
        // The last observer of the sleep may have gone meanwhile, and a sole port been taken.
        return run.delivery != nil || knowsPortToServe(run)
    }

    /// Whether a port is known to be ready that would also be the first after another poll.
    private func knowsPortToServe(_ run: borrowing Run) -> Bool {
        guard summary.mayHoldReady else { return false }
        let mode = run.modeIndex
        return contents.withEngine { $0.hasReadyPort(in: mode) }
    }

    /// Polls without waiting, unless the latest poll can be reused.
    ///
    /// The poll is not skipped if a descriptor may be ready and nothing is to be served before it,
    /// because the delay would be observable.
    @inline(__always)
    func poll(_ run: inout Run) {
        let maySkip =
            !run.isInFirstPass
            && (!run.view.holdsPolledPorts || knowsPortToServe(run))
        if !maySkip || !reuseLatestPoll(&run) { pollKernel(&run) }
    }

    // Inlined: each return on the way from a system call to the pass takes as long as a dozen
    // instructions.
    @inline(__always)
    func pollKernel(_ run: inout Run) {
        checkProcess()
        armDescriptors(&run)
        run.local.withDriver { $0.poll() }
        userCodeMayHaveRun(&run)
        recordReadyPorts(&run)
    }

    /// Skips a poll if this run's latest one is recent enough to replace it.
    ///
    /// - Returns: Whether it was skipped.
    private func reuseLatestPoll(_ run: inout Run) -> Bool {
        guard var latest = run.reusablePoll,
            latest.addedPortCount == waker.addedPortCount,
            latest.number == run.local.pollCount,
            latest.skippedPolls < latest.maxSkippedPolls, run.now(by: waker) < latest.end
        else { return false }
        if run.view.holdsPolledPorts {
            let mode = run.modeIndex
            let isSkipped = contents.withEngine {
                $0.recordSkippedPoll(reusing: latest.number, in: mode)
            }
            guard isSkipped else { return false }
        }
        latest.skippedPolls += 1
        run.reusablePoll = latest
        return true
    }

    /// Polls for the ports that are expected to be ready, because another run may come before the
    /// innermost one's next poll.
    ///
    /// Those that have stayed ready keep the turns that the skipped polls would have given them. The
    /// kernel is not told of any changes, and what else is ready is left to the next poll: this one
    /// has no other effect.
    @inline(never)
    func pollForExpected(_ local: LocalState) {
        checkProcess()
        local.withDriver { $0.poll() }
        checkProcess()
        let number = local.pollCount + 1
        local.pollCount = number
        while let report = local.withDriver({ $0.takeReport() }) {
            contents.withEngine { engine in
                engine.beginPoll(number)
                engine.recordExpected(report)
            }
        }
        local.withDriver { $0.announceHosted(ifExpected: true) }
        contents.withEngine { $0.endExpectations() }
    }

    /// Watches what this run may serve and the kernel does not watch yet: usually nothing.
    @inline(__always)
    func armDescriptors(_ run: inout Run) {
        run.watchedAdditionCount = waker.addedPortCount
        refresh(&run)
        if summary.mayHoldUnwatched { applyWatchChanges(&run) }
    }

    private func applyWatchChanges(_ run: inout Run) {
        checkProcess()
        let mode = run.modeIndex
        let changes = contents.withEngine { $0.takeWatchChanges(for: mode) }
        if changes.isEmpty { return }
        var refused: [CInt] = []
        run.local.withDriver { driver in
            driver.watch(changes) { change in
                contents.withEngine { $0.isCurrent(change) }
            } refused: { change, error in
                contents.withEngine { $0.refuse(change, error, in: mode) }
                refused.append(change.descriptor)
            }
        }
        guard LoopTracing.hasTracers else { return }
        for descriptor in refused {
            traceMistake(.refused(descriptor: descriptor, at: monotonicNow()))
        }
    }

    /// Records the ready ports, and masks those this run cannot serve.
    ///
    /// - Returns: Whether the run can serve one of them.
    @discardableResult
    func recordReadyPorts(_ run: inout Run) -> Bool {
        let (number, version) = (run.local.pollCount + 1, run.view.version)
        run.local.pollCount = number
        run.pollNumber = number
        var (found, isForRun) = (0, false)
        let readyCount = run.local.withDriver { $0.readyCount }
        if readyCount > 0 {
            (found, isForRun) = recordReports(of: number, upTo: readyCount, &run)
            if found < readyCount { announceHosted(number, run.local) }
            // A port that was taken is the only one that was ready.
            if run.delivery == nil {
                let mode = run.modeIndex
                contents.withEngine { $0.endPoll(number, in: mode) }
            }
        } else if mayEndTurns(run) {
            let mode = run.modeIndex
            contents.withEngine { $0.endPoll(number, in: mode) }
        }
        // A run that ends with the next source rarely polls twice.
        guard !run.terms.limitWasPast, !run.terms.returnsAfterSource, !run.local.isLent else {
            return isForRun
        }
        let factor = max(1, found / Self.maxSkippedPolls)
        run.reusablePoll = PollCache(
            end: run.now(by: waker).addingSaturating(Int64(factor) * Self.maxPollAge),
            maxSkippedPolls: factor * Self.maxSkippedPolls,
            version: version,
            addedPortCount: run.watchedAdditionCount,
            number: number
        )
        return isForRun
    }

    /// Whether a poll that has found nothing may end the turn of a port.
    @inline(__always)
    private func mayEndTurns(_ run: borrowing Run) -> Bool {
        let summary = summary
        return summary.holdsExpectations || (summary.mayHoldReady && run.view.holdsPorts)
    }

    /// Has the driver free what was closed, in a run that does not poll.
    @inline(never)
    func reclaim(_ local: LocalState) {
        local.withDriver { driver in
            driver.reclaim { report in contents.withEngine { $0.recordLoss(report) } }
        }
    }

    /// Records the driver's reports of a poll, or takes a sole ready port for this pass.
    ///
    /// - Parameters:
    ///   - poll: The poll's number.
    ///   - readyCount: How many descriptors and hosted sources the poll has found.
    ///   - run: The run.
    /// - Returns: The number of reports, and whether the run can serve any of them.
    private func recordReports(
        of poll: Int64,
        upTo readyCount: Int,
        _ run: inout Run
    ) -> (count: Int, isForRun: Bool) {
        let mode = run.modeIndex
        // Another thread may have added an observer while the loop slept.
        refresh(&run)
        // An observer called before the port is served may change what there is to serve.
        let mayTake = readyCount == 1 && !run.view.isSleepObserved
        let now = mayTake && run.view.holdsTimers ? run.now(by: waker) : 0
        var (count, isForRun) = (0, false)
        // Not once more than there are reports: to learn that there is none takes 40 instructions.
        while count < readyCount, var report = run.local.withDriver({ $0.takeReport() }) {
            count += 1
            let change = contents.withEngine { engine -> WatchChange? in
                engine.beginPoll(poll)
                if mayTake {
                    run.delivery = engine.takeSoleReadyPort(report, in: mode, now: now)
                }
                isForRun = isForRun || run.delivery != nil
                return run.delivery == nil ? engine.record(report, in: mode, &isForRun) : nil
            }
            if let change { rearm(change, after: &report, &run, &isForRun) }
        }
        return (count, isForRun)
    }

    /// Announces what a poll has found for hosted handles.
    @inline(never)
    private func announceHosted(_ poll: Int64, _ local: LocalState) {
        contents.withEngine { $0.beginPoll(poll) }
        local.withDriver { $0.announceHosted(ifExpected: false) }
    }

    /// Watches a descriptor for what its report has left, and records a hang-up, which libuv does
    /// not tell if it comes with other events.
    ///
    /// - Parameters:
    ///   - change: What to watch.
    ///   - report: The report.
    ///   - run: The run.
    ///   - isForRun: Becomes `true` if the run can serve the hang-up.
    @inline(__always)
    private func rearm(
        _ change: WatchChange,
        after report: inout ReadyReport,
        _ run: inout Run,
        _ isForRun: inout Bool
    ) {
        let isCarriedOut = run.local.withDriver { $0.rearm(change) }
        if !isCarriedOut { contents.withEngine { $0.markUnwatched(change.descriptor) } }
        guard run.local.withDriver({ $0.findHangUp(&report) }) else { return }
        let mode = run.modeIndex
        _ = contents.withEngine { $0.record(report, in: mode, &isForRun) }
    }
}
