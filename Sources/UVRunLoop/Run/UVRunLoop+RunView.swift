extension UVRunLoop {
    // MARK: The view of a run

    /// Updates the run's view of its mode.
    @inline(__always)
    func refresh(_ run: inout Run) {
        if summary.version != run.view.version { updateView(&run) }
    }

    @inline(never)
    private func updateView(_ run: inout Run) {
        // The view may keep the last reference to an observer that was removed. Its release may run
        // user code, for which the lock must be free. A copy that is kept until then would not do:
        // the optimiser leaves out its references, and the update releases the observer.
        if !run.view.observers.observed.isEmpty {
            run.view.observers = ObserverLists()
            userCodeMayHaveRun(&run)
        }
        let mode = run.modeIndex
        contents.withEngine { $0.update(&run.view, of: mode) }
    }

    /// Called when user code has returned, or the kernel, where libuv may have called user code: the
    /// clock reading is old, and this may be a forked child, which must not go on with a run of its
    /// parent's loop.
    ///
    /// A run uses the engine without checking the process. Where no check follows user code at once
    /// (between blocks and messages, and after the release of captures), the end of the parent's
    /// runs in the child leads to one; see `end_runs_of_parent`.
    @inline(__always)
    func userCodeMayHaveRun(_ run: inout Run) {
        checkProcess()
        run.discardClockReading()
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
