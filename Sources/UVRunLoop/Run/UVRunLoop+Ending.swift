extension UVRunLoop {
    /// Ends every run of the loop, nested and future ones included.
    func end(_ end: RunEnd) {
        checkProcess()
        runState.endForGood(end)
        waker.contentsDidChange()
    }

    /// Whether the loop was ended and no queued work begins any more; traps in a forked child.
    package var isEndedAtOnce: Bool {
        @inline(__always)
        get { runState.isStoppedForGood && isQueuedWorkDiscarded }
    }

    @inline(never)
    private var isQueuedWorkDiscarded: Bool {
        checkProcess()
        return runState.isQueuedWorkDiscarded { time }
    }

    /// Performs the work queued for the default mode after the loop was ended.
    ///
    /// Makes one pass, then runs for as long as a port of the mode is finishing its work. Runs
    /// nested in these end at once.
    func performQueuedWork() {
        let local = localState()
        let onePass = Run.Terms(limit: .min, limitWasPast: true, performsQueuedWork: true)
        _ = run(.default, onePass, local)
        // While a run waited for some ports, others may have started to finish.
        while !isEndedAtOnce, awaitFinishingPorts(local) {}
    }

    /// Runs until each port that is finishing its work now has finished it.
    ///
    /// - Returns: Whether there was such a port.
    private func awaitFinishingPorts(_ local: LocalState) -> Bool {
        let ports = withEngine { $0.ports(in: .default) }.map(\.link).filter { isFinishing($0) }
        for port in ports {
            while isFinishing(port), !isEndedAtOnce {
                let terms = Run.Terms(performsQueuedWork: true) { !self.isFinishing(port) }
                _ = run(.default, terms, local)
            }
        }
        return !ports.isEmpty
    }

    /// Whether a run ends at the end of its current pass.
    func endsAfterThisPass(_ run: borrowing Run) -> Bool {
        guard let condition = run.terms.endCondition else { return runState.isStopped }
        return endsAfterThisPass(for: condition, performsQueuedWork: run.terms.performsQueuedWork)
    }

    /// Not inlined: few runs have a condition, and a pass would take 60 instructions more.
    @inline(never)
    private func endsAfterThisPass(
        for condition: EndCondition,
        performsQueuedWork: Bool
    ) -> Bool {
        // A run that performs what is left after the end of the loop goes on.
        let isStopped =
            performsQueuedWork
            ? runState.isThisRunStopped || isEndedAtOnce : runState.isStopped
        return isStopped || condition()
    }

    /// Whether a port is in the default mode and finishing its work.
    private func isFinishing(_ port: PortLink) -> Bool {
        contains(port, forMode: .default) && port.receiver.isFinishing
    }
}
