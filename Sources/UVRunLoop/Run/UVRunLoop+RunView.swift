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
        withEngine { $0.show(mode, in: &run.view) }
    }

    /// Whether the run has queued blocks or jobs to perform.
    func holdsWork(for run: borrowing Run) -> Bool {
        holdsJob(run)
            || holdsBlocks(for: run.modeNumber, isCommon: run.view.isCommon, run.local)
    }
}
