extension UVRunLoop {
    /// The conditions under which a run serves one port repeatedly within one pass.
    ///
    /// While they hold, the passes skipped would only have served that port, or what has become ready
    /// since the latest poll.
    struct DirectDelivery {
        /// The poll whose result the skipped passes would have reused.
        fileprivate(set) var poll: PollCache
        /// When the next poll or the limit of the run is due.
        fileprivate let end: Int64
        /// The mode, if it has timers, whose dates may change at any time.
        fileprivate let modeWithTimers: Int?
        fileprivate let announcementCount: UInt64
        /// Whether the run performs jobs, which the skipped passes would have done.
        fileprivate let servesJobs: Bool
        fileprivate let local: LocalState
    }

    /// Returns the conditions for direct delivery if the coming passes would only serve the port
    /// that was just served: no observer of the mode, and nothing else to serve.
    func directDelivery(_ run: inout Run) -> DirectDelivery? {
        // In a forked child, which must not lock the engine, the run has been stopped.
        guard !runState.isStopped else { return nil }
        refresh(&run)
        guard !run.terms.returnsAfterSource, !run.terms.limitWasPast,
            run.terms.endCondition == nil,
            run.view.observers.observed.isEmpty,
            let poll = run.reusablePoll, poll.version == run.view.version
        else { return nil }
        let announcementCount = waker.announcementCount
        let mode = run.modeIndex
        guard !contents.withEngine({ $0.holdsTurn(in: mode) }) else { return nil }
        return DirectDelivery(
            poll: poll,
            end: min(run.terms.limit ?? .max, poll.end),
            modeWithTimers: run.view.holdsTimers ? mode : nil,
            announcementCount: announcementCount,
            servesJobs: run.servesJobs && run.view.isCommon,
            local: run.local
        )
    }

    /// Skips one more pass, if the conditions still hold.
    ///
    /// They do not while something traces, because tracers are told of each call of a handler.
    func skipPass(_ direct: inout DirectDelivery) -> Bool {
        guard !mayHoldBlocks(direct.local), !summary.mayHoldSignalledSources, !runState.isStopped,
            !home.holdsReleases, !LoopTracing.isOn,
            summary.version == direct.poll.version,
            direct.poll.number == direct.local.pollCount,
            direct.poll.skippedPolls < direct.poll.maxSkippedPolls,
            direct.announcementCount == waker.announcementCount
        else { return false }
        let local = direct.local
        if direct.servesJobs, jobs.holdsJob(&local.jobs) { return false }
        let now = time
        guard now < direct.end else { return false }
        if let mode = direct.modeWithTimers {
            let soonest = contents.withEngine { $0.soonestQueued(in: mode) }
            guard soonest.map({ now < $0 }) ?? true else { return false }
        }
        direct.poll.skippedPolls += 1
        return true
    }
}
