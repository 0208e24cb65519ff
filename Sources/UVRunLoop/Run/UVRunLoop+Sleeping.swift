extension UVRunLoop {
    /// Step 7: sleeps until there is something to do for the run.
    ///
    /// The changed mark is cleared before the contents are checked, and the driver falls asleep
    /// only if the mark is still clear. So a concurrent change is either seen by the check or keeps
    /// the driver awake. A change that gives this run nothing to do, such as another thread's new
    /// timer, only adjusts the sleep.
    ///
    /// A port that another thread has added during the sleep may be ready, so the kernel is asked
    /// for it before the sleep ends for another reason.
    func sleep(_ run: inout Run) {
        // The count of added ports at this sleep's latest poll; no count is so high.
        var polledAdditionCount = UInt64.max
        if pollBeforeSleeping(&run) {
            // It may have taken the only port that is ready.
            if run.delivery != nil { return }
            polledAdditionCount = run.watchedAdditionCount
        }
        while true {
            wakeState.clearChanged()
            if home.performReleases() { userCodeMayHaveRun(&run) }
            registerMainQueue()
            switch sleepDecision(&run) {
            case .changed: continue
            case .somethingToDo:
                if polledAdditionCount == run.watchedAdditionCount { return }
                let mayHaveFound = summary.mayHoldReady
                poll(&run)
                guard mayHaveFound, run.delivery == nil else { return }
                // What an earlier poll had found may not be ready any more.
                polledAdditionCount = run.watchedAdditionCount
            case .sleep(let sleep):
                let began = LoopTracing.isOn ? tracedSleepBegins() : nil
                waker.sleepPlan.begin(
                    until: sleep.moment?.latest ?? .max,
                    version: run.view.version
                )
                run.local.withDriver { $0.wait(until: sleep.moment, now: sleep.now) }
                if let began { trace(.slept(from: began, until: monotonicNow())) }
                userCodeMayHaveRun(&run)
                if recordReadyPorts(&run) { return }
                if wakeState.isWoken {
                    if run.watchedAdditionCount != waker.addedPortCount { pollKernel(&run) }
                    return
                }
                polledAdditionCount = run.watchedAdditionCount
                // After a change by another thread, the dates are those of earlier contents.
                if !wakeState.isMarkedAsChanged, isOver(sleep, &run) { return }
            }
        }
    }

    /// Polls first if the sleep's own poll could not give the ports their right order.
    ///
    /// - Returns: Whether it has polled.
    @inline(__always)
    private func pollBeforeSleeping(_ run: inout Run) -> Bool {
        guard summary.mayHoldReady, pollDecidesTurns(run) else { return false }
        pollKernel(&run)
        return true
    }

    /// Whether only another poll decides about the turns of some ports.
    ///
    /// A port that is expected keeps its turn if it has stayed ready, not if it becomes ready in the
    /// sleep. And ports that polls of other runs have found, and that were not served, may not be
    /// ready any more.
    @inline(never)
    private func pollDecidesTurns(_ run: borrowing Run) -> Bool {
        if summary.holdsExpectations { return true }
        guard run.isInFirstPass || run.pollNumber != run.local.pollCount else { return false }
        let mode = run.modeIndex
        return contents.withEngine { !$0.modes[mode].ready.isEmpty }
    }

    /// The parameters of one sleep.
    private struct Sleep {
        /// When to wake; `nil` for no date.
        let moment: Moment?
        /// The time when the sleep was decided on.
        let now: Int64
        /// When there is something to do; `.max` for no date.
        let end: Int64
    }

    private func isOver(_ sleep: Sleep, _ run: inout Run) -> Bool {
        sleep.end < .max && run.now(by: waker) >= sleep.end
    }

    /// Whether the loop may sleep, according to its contents.
    private enum SleepDecision {
        case somethingToDo
        case sleep(Sleep)
        /// The run's view of the contents is outdated.
        case changed
    }

    private func sleepDecision(_ run: inout Run) -> SleepDecision {
        armDescriptors(&run)
        if wakeState.isWoken || endsAfterThisPass(run) { return .somethingToDo }
        let view = sleepView(for: run)
        guard view.version == run.view.version, !view.hasUnwatched else { return .changed }
        if view.hasWork || holdsWork(for: run) || !run.holdsItems { return .somethingToDo }
        let end = min(view.soonest ?? .max, run.terms.limit ?? .max)
        guard end < .max else { return .sleep(Sleep(moment: nil, now: 0, end: end)) }
        let now = run.now(by: waker)
        if end <= now { return .somethingToDo }
        let moment = Moment.earlier(
            view.wakeWindow.map(Moment.init),
            run.terms.limit.map { Moment(limit: $0, now: now) }
        )
        return .sleep(Sleep(moment: moment, now: now, end: end))
    }

    /// Returns what the run's mode holds; without the engine's lock if the published summary
    /// suffices.
    ///
    /// A change to the engine publishes the summary, then marks the word. Either the mark was set
    /// before ``sleep(_:)`` cleared it, and this reads the new summary, or it is set when the
    /// driver tries to fall asleep.
    @inline(__always)
    private func sleepView(for run: borrowing Run) -> Engine.SleepView {
        if !run.view.holdsTimers, (summary == .nothingToDo(version: run.view.version)) {
            return Engine.SleepView(version: run.view.version)
        }
        let mode = run.modeIndex
        return contents.withEngine { $0.sleepView(of: mode) }
    }
}
