extension UVRunLoop {
    // Step 4. A source is taken under the lock and performed without it: its handler may change the
    // contents, run the loop again, or end the run.

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
        let count = contents.withEngine { engine -> Int in
            let count = engine.modes[mode].signalled.count
            // A single source needs no batch.
            if count == 1 || returnsAfterSource { first = engine.takeFirstSignalled(in: mode) }
            return count
        }
        // All signalled sources may be in other modes.
        guard count > 0 else { return false }
        guard let first = first.take() else { return performAllSignalledSources(&run) }
        return performOne(first, &run)
    }

    /// Performs a source that was taken; if another loop has performed it first, the next signalled
    /// one.
    private func performOne(_ first: consuming Engine.FirstSignalled, _ run: inout Run) -> Bool {
        let mode = run.modeIndex
        var next: Engine.FirstSignalled? = consume first
        while let taken = next.take() {
            if taken.source.takeSignal(clearedIn: self, taken.ticket),
                callOut(taken.source, &run), takeHandledSomething(run)
            {
                return true
            }
            next = contents.withEngine { $0.takeFirstSignalled(in: mode) }
        }
        return false
    }

    @inline(__always)
    private func callOut(_ source: Source, _ run: inout Run) -> Bool {
        let wasHandled = LoopTracing.isOn ? callTraced(source) : source.callOut()
        userCodeMayHaveRun(&run)
        return wasHandled
    }

    /// Returns whether the call of a source or timer that has just ended counts, and forgets what the
    /// call has said.
    @inline(__always)
    func takeHandledSomething(_ run: borrowing Run) -> Bool {
        guard run.local.callHandledNothing else { return true }
        run.local.callHandledNothing = false
        return false
    }

    /// Performs the sources that are signalled now; sources signalled meanwhile wait for the next
    /// pass.
    private func performAllSignalledSources(_ run: inout Run) -> Bool {
        let (mode, local) = (run.modeIndex, run.local)
        var batch = exchange(&local.spareSources, with: [])
        contents.withEngine { $0.collectSignalled(in: mode, into: &batch) }
        batch.sort { $0.turn < $1.turn }
        var handledSource = false
        for signalled in batch where signalled.source.takeSignal() {
            if callOut(signalled.source, &run), takeHandledSomething(run) { handledSource = true }
        }
        batch.removeAll(keepingCapacity: true)
        local.spareSources = batch
        return handledSource
    }
}
