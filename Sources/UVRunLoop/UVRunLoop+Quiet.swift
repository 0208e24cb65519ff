extension UVRunLoop {
    /// What has to stay as it is for the coming passes to do nothing but serve one port.
    ///
    /// While it lasts, the port is served on within one pass: nobody can tell, and a pass costs
    /// more than a message.
    struct Quiet {
        /// The look at the kernel that the passes left out would have relied on.
        fileprivate(set) var look: Run.Look
        /// When a look or the limit of the run is due.
        fileprivate let end: Int64
        /// The mode, if it has timers: their dates may be changed at any time.
        fileprivate let modeWithTimers: Int?
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
        guard !withEngine({ $0.hasReadyPort(in: mode) }) else { return nil }
        return Quiet(
            look: look,
            end: min(run.terms.limit ?? .max, look.end),
            modeWithTimers: run.view.holdsTimers ? mode : nil,
            arrivalCount: arrivalCount
        )
    }

    /// Whether it is still quiet, for one more pass that is left out.
    func lasts(_ quiet: inout Quiet) -> Bool {
        guard !mayHoldBlocks, !mayHoldSignals, !innermostRun.isStopped,
            publishedVersion == quiet.look.version,
            quiet.look.number == lookCount.load(ordering: .relaxed),
            quiet.look.omissions < quiet.look.mostOmissions,
            quiet.arrivalCount == arrivalCount.load(ordering: .relaxed)
        else { return false }
        let now = remote.now
        guard now < quiet.end else { return false }
        if let mode = quiet.modeWithTimers {
            let soonest = withEngine { $0.modes[mode].timers.soonest }
            guard soonest.map({ now < $0 }) ?? true else { return false }
        }
        quiet.look.omissions += 1
        return true
    }
}
