extension UVRunLoop {
    /// What has to stay as it is for the coming passes to do nothing but serve one port.
    ///
    /// While it lasts, the port is served on within one pass: nobody can tell, and a pass costs
    /// more than a message.
    struct Quiet {
        /// The look at the kernel that the passes left out would have relied on.
        fileprivate(set) var poll: PollCache
        /// When a look or the limit of the run is due.
        fileprivate let end: Int64
        /// The mode, if it has timers: their dates may be changed at any time.
        fileprivate let modeWithTimers: Int?
        fileprivate let announcementCount: UInt64
    }

    /// Whether the coming passes of a run would do nothing but serve the port that was just
    /// served: nobody observes them, and nothing else waits.
    func quiet(_ run: inout Run) -> Quiet? {
        refresh(&run)
        guard !run.terms.returnsAfterSource, !run.terms.limitWasPast,
            run.view.observers.observed.isEmpty,
            let poll = run.latestPoll, poll.version == run.view.version
        else { return nil }
        let announcementCount = announcementCount.load(ordering: .relaxed)
        let mode = run.modeIndex
        guard !withEngine({ $0.hasReadyPort(in: mode) }) else { return nil }
        return Quiet(
            poll: poll,
            end: min(run.terms.limit ?? .max, poll.end),
            modeWithTimers: run.view.holdsTimers ? mode : nil,
            announcementCount: announcementCount
        )
    }

    /// Whether it is still quiet, for one more pass that is left out.
    func lasts(_ quiet: inout Quiet) -> Bool {
        guard !mayHoldBlocks, !mayHoldSignals, !innermostRun.isStopped,
            publishedVersion == quiet.poll.version,
            quiet.poll.number == pollCount.load(ordering: .relaxed),
            quiet.poll.skippedPolls < quiet.poll.maxSkippedPolls,
            quiet.announcementCount == announcementCount.load(ordering: .relaxed)
        else { return false }
        let now = remote.now
        guard now < quiet.end else { return false }
        if let mode = quiet.modeWithTimers {
            let soonest = withEngine { $0.modes[mode].timers.soonest }
            guard soonest.map({ now < $0 }) ?? true else { return false }
        }
        quiet.poll.skippedPolls += 1
        return true
    }
}
