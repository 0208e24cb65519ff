extension UVRunLoop {
    /// What has to stay as it is for the coming passes to do nothing but serve one port.
    ///
    /// While it lasts, the port is served on within one pass: nobody can tell, and a pass costs
    /// more than a message.
    struct Quiet {
        /// The look at the kernel that the passes left out would have relied on.
        fileprivate(set) var look: Run.Look
        /// When a look, a timer or the limit of the run is due.
        fileprivate let end: Int64
        fileprivate let arrivalCount: UInt64
    }

    /// Whether the coming passes of a run would do nothing but serve the port that was just
    /// served: nobody observes them, and nothing else waits.
    func quiet(_ run: inout Run) -> Quiet? {
        refresh(&run)
        guard !run.terms.returnsAfterSource, !run.terms.limitWasPast,
            run.view.observers.observed.isEmpty,
            let look = run.latestLook, look.version == run.view.version
        else { return nil }
        let arrivalCount = arrivalCount.load(ordering: .relaxed)
        let mode = run.modeIndex
        let (isPortReady, soonest) = withEngine { engine in
            (engine.hasReadyPort(in: mode), engine.modes[mode].timers.soonest)
        }
        guard !isPortReady else { return nil }
        let end = min(soonest ?? .max, run.terms.limit ?? .max, look.end)
        return Quiet(look: look, end: end, arrivalCount: arrivalCount)
    }

    /// Whether it is still quiet, for one more pass that is left out.
    func lasts(_ quiet: inout Quiet) -> Bool {
        guard !mayHoldBlocks, !mayHoldSignals, !innermostRun.isStopped,
            publishedVersion == quiet.look.version,
            quiet.look.number == lookCount.load(ordering: .relaxed),
            quiet.look.omissions < quiet.look.mostOmissions,
            quiet.arrivalCount == arrivalCount.load(ordering: .relaxed),
            remote.now < quiet.end
        else { return false }
        quiet.look.omissions += 1
        return true
    }
}
