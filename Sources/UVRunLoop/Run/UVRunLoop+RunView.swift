extension UVRunLoop {
    // MARK: The view of a run

    /// Updates the run's view of its mode.
    @inline(__always)
    func refresh(_ run: inout Run) {
        if summary.version != run.view.version { updateView(&run) }
    }

    @inline(never)
    private func updateView(_ run: inout Run) {
        let mode = run.modeIndex
        let outdated = run.view.observers
        withEngine { $0.show(mode, in: &run.view) }
        // The view may have kept the last reference to an observer that was removed. Releasing it
        // may run user code, for which the lock must be free.
        withExtendedLifetime(outdated) {}
        if !outdated.observed.isEmpty { run.discardClockReading() }
    }

    /// Whether the run has queued blocks or jobs to perform.
    ///
    /// Inlined, because a call would get a copy of the run.
    @inline(__always)
    func holdsWork(for run: borrowing Run) -> Bool {
        holdsJob(run)
            || holdsBlocks(for: run.modeNumber, isCommon: run.view.isCommon, run.local)
    }
}
