extension UVRunLoop {
    // MARK: The beginning of a run

    /// Starts a run with what its mode holds.
    ///
    /// Without the lock if the previous run began in the same mode, and nothing has changed since.
    ///
    /// - Returns: Whether there is something to run for.
    @inline(__always)
    func begin(_ run: inout Run, in mode: Mode) -> Bool {
        run.beginFromCache(ifVersionIs: summary.version) || beginFromEngine(&run, in: mode)
    }

    @inline(never)
    private func beginFromEngine(_ run: inout Run, in mode: Mode) -> Bool {
        let staysWhenEmpty = run.terms.staysWhenEmpty
        let isRunnable = contents.withEngine { engine in
            let index = engine.modes.index(of: mode)
            guard mayRun(in: mode, at: index, &engine, run.local, evenIfEmpty: staysWhenEmpty)
            else { return false }
            let runIndex = index ?? engine.modes.makeIndex(of: mode)
            engine.modes[runIndex].wasUsed = true
            run.begin(in: runIndex, &engine)
            return true
        }
        if isRunnable { run.cacheBeginning() }
        return isRunnable
    }

    /// Whether there is something to run for in a mode, which may not exist in the loop yet.
    func mayRun(
        in mode: Mode,
        at index: Int?,
        _ engine: inout Engine,
        _ local: LocalState,
        evenIfEmpty: Bool = false
    ) -> Bool {
        guard !engine.isClosed, !mode.isCommonName else { return false }
        if evenIfEmpty { return true }
        guard let index else { return holdsBlocks(for: mode.number, isCommon: false, local) }
        let isCommon = engine.modes[index].isCommon
        return engine.modes[index].holdsItems || (isCommon && mayPerformJobs(local))
            || holdsBlocks(for: mode.number, isCommon: isCommon, local)
    }
}
