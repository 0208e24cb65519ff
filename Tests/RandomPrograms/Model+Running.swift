extension Model {
    /// Runs as 4.1 says; steps 1 and 10 come once per run.
    func run(_ mode: ModeName, limit: Int64?, returnsAfterSource: Bool) {
        guard !isEmpty(mode) else { return noteReturn(.finished) }
        if let outer = runs.last, outer.mode != mode { makeUpForLeftOutPolls() }
        let end = limit.map { now + $0 }
        runs.append(
            Run(
                mode: mode,
                limit: end,
                returnsAfterSource: returnsAfterSource,
                limitWasPast: end.map { $0 <= now } ?? false
            )
        )
        notify(.entry)
        var result = innermost.isStopped ? Result.stopped : nil
        while result == nil { result = makeOnePass() }
        makeUpForLeftOutPolls()
        notify(.exit)
        // "stopped if `stop()` was called in this run, up to the moment the run is taken off".
        if innermost.isStopped { result = .stopped }
        runs.removeLast()
        noteReturn(result ?? .finished)
    }

    enum Result: Int {
        case finished = 1
        case stopped, timedOut, handledSource
    }

    enum Moment: UInt {
        case entry = 1
        case beforeTimers = 2
        case beforeSources = 4
        case beforeWaiting = 32
        case afterWaiting = 64
        case exit = 128
    }

    var innermost: Run {
        get { runs[runs.count - 1] }
        set { runs[runs.count - 1] = newValue }
    }

    private func noteReturn(_ result: Result) {
        performance.note(.returned(result.rawValue, place))
    }

    /// Steps 2 to 9; the result if the run ends.
    private func makeOnePass() -> Result? {
        let pass = beginPass()
        let run = innermost
        let mode = run.mode
        // 2. "A wake-up asked for before this point is forgotten."
        innermost.isWoken = false
        notify(.beforeTimers)
        // 3.
        notify(.beforeSources)
        performBlocks(mode)
        // 4.
        let handledCustomSource = fireSources(mode, onlyFirst: run.returnsAfterSource)
        if handledCustomSource { performBlocks(mode) }
        // 5.
        poll(mode, Poll(pass: pass, step: 5))
        if readyPorts(mode).isEmpty {
            // 6 to 8: "sent together or not at all".
            if handledCustomSource || run.limitWasPast {
                poll(mode, Poll(pass: pass, step: 7))
            } else {
                notify(.beforeWaiting)
                sleep(mode, Poll(pass: pass, step: 7))
                notify(.afterWaiting)
            }
        }
        // 9.
        let handledPort = processEvent(mode)
        // "The previous pass of this loop" is the one that ended last: passes of runs nested in the
        // event's handlers were before it.
        latestPassServedPort = handledPort
        performBlocks(mode)
        return decide(handledCustomSource || handledPort)
    }

    /// 4.2: the first match.
    private func decide(_ handledSource: Bool) -> Result? {
        let run = innermost
        if run.isStopped { return .stopped }
        if run.returnsAfterSource, handledSource { return .handledSource }
        if let limit = run.limit, now >= limit { return .timedOut }
        if isEmpty(run.mode) { return .finished }
        return nil
    }

    /// "One event per pass; port first, unless the previous pass of this loop delivered a port and
    /// a timer is due".
    private func processEvent(_ mode: ModeName) -> Bool {
        let due = dueTimers(mode)
        let port = latestPassServedPort && !due.isEmpty ? nil : nextPort(mode)
        latestPassServedPort = port != nil
        if let port { serve(port) } else { fire(due, mode) }
        return port != nil
    }

    // MARK: Step 7

    /// Sleeps until a port event, a timer's date, the run's limit, or a wake-up.
    private func sleep(_ mode: ModeName, _ poll: Poll) {
        self.poll(mode, poll)
        guard dueTimers(mode).isEmpty else { return }
        // Only "a poll without waiting" may be left out.
        if !hasReasonToWake(mode) { askKernel(mode) }
        planSleep(mode)
        while maySleep(mode) {
            let end = wakingDate(mode)
            guard let visit = nextVisit(until: end) else {
                now = max(now, end)
                innermost.latestPoll?.time = now
                break
            }
            if carryOut(visit, during: mode) { planSleep(mode) }
            guard maySleep(mode) else { break }
            // The contract leaves open whether the loop sleeps on within a timer's window when
            // another thread has changed something.
            if isInWindow(mode), observedNext?.place?.time == now { break }
            if !isVirtual { noteUnsettled() }
        }
    }

    private func maySleep(_ mode: ModeName) -> Bool {
        !hasReasonToWake(mode) && (dueTimers(mode).isEmpty || isInWindow(mode))
    }

    /// Carries out a visit of another thread, and in virtual time those of the same date that follow
    /// one of which the loop takes no notice.
    ///
    /// The contract leaves open which these are.
    ///
    /// "Plans for the same date are carried out in the order in which they were made, each when all
    /// loops sleep again."
    ///
    /// - Returns: Whether the loop looks at its contents again.
    private func carryOut(_ first: Visit, during mode: ModeName) -> Bool {
        var next: Visit? = first
        while let visit = next.take() {
            if isVirtual { now = max(now, visit.date) }
            var isNoticed = false
            for action in visit.actions {
                if takesNotice(of: action) { isNoticed = true }
                outdateSleepPlan(after: action)
                visitByAnotherThread(action)
            }
            // The contract leaves open whether the kernel is asked for new sources after it has
            // reported an event.
            if !askKernel(mode, mayWatch: false) { askKernel(mode) }
            guard isVirtual, !isNoticed, !innermost.isWoken, readyPorts(mode).isEmpty else {
                return true
            }
            next = nextVisit(until: now)
        }
        return false
    }

    /// Whether every timer that is due could wait a little longer.
    private func isInWindow(_ mode: ModeName) -> Bool {
        let due = dueTimers(mode).map { items[$0].timer }
        return !due.isEmpty && due.allSatisfy { $0.date + $0.tolerance > now }
    }

    /// "Work already known (a stop, a block, a signal, emptiness, a due date …) makes the sleep
    /// zero long".
    private func hasReasonToWake(_ mode: ModeName) -> Bool {
        innermost.isStopped || innermost.isWoken || isEmpty(mode)
            || innermost.limit.map { $0 <= now } ?? false
            || blocks.contains { mayRun($0, in: mode) }
            || members[mode, default: []].contains { isSource($0) && items[$0].signalledAt != nil }
            || !readyPorts(mode).isEmpty
    }

    /// When the sleep ends on the loop's own account: by the run's limit at the latest, and within
    /// the windows of its timers.
    private func wakingDate(_ mode: ModeName) -> Int64 {
        let timers = members[mode, default: []].filter { isTimer($0) && !items[$0].isOnStack }
            .map { items[$0].timer }
        let limit = innermost.limit ?? .max
        let first = min(timers.map(\.date).min() ?? .max, limit)
        let last = min(timers.map { $0.date + $0.tolerance }.min() ?? .max, limit)
        // The contract leaves open when within a timer's window the loop wakes.
        if first < last, let time = observedNext?.place?.time { return min(max(time, first), last) }
        return last
    }

    /// The next visit of another thread before a date; in real time, its next visit.
    private func nextVisit(until date: Int64) -> Visit? {
        if let visit = visits.first {
            guard !isVirtual || visit.date <= date else { return nil }
            visits.removeFirst()
            return visit
        }
        // A run that nothing would end is stopped by another thread.
        guard !isVirtual || date > Program.end else { return nil }
        return Visit(at: Program.end, [.stop])
    }
}
