// A loop's reports to its watchers. The functions that are inlined are those that the loop calls
// in any case: they read one word. The others are out of line, and called only while something
// watches.

extension UVRunLoop {
    /// Calls the block of a perform request.
    @inline(__always)
    func callingBlock(_ body: () -> Void) {
        if LoopWatch.isOn { watchedCall(.block, nil, 0, body) } else { body() }
    }

    /// Calls a handler from another one, or outside of a run; that one goes on afterwards.
    @inline(__always)
    func callingWithinAHandler(_ kind: HandlerKind, _ item: AnyObject, _ body: () -> Void) {
        LoopWatch.isOn ? watchedInnerCall(kind, item, body) : body()
    }

    @inline(never)
    private func watchedInnerCall(_ kind: HandlerKind, _ item: AnyObject, _ body: () -> Void) {
        let outer = watched.activity.call
        watchedCall(kind, item, 0, body)
        watched.activity.resume(outer)
    }

    /// Calls a handler, and tells the watchers.
    @inline(never)
    func watchedCall<Result>(
        _ kind: HandlerKind,
        _ item: AnyObject?,
        _ code: UInt,
        _ body: () -> Result
    ) -> Result {
        let watched = watched
        watched.activity.begin(kind.rawValue, item)
        // The item may be released as soon as its handler has returned.
        defer { watched.activity.begin(WatchedLoop.passing, nil) }
        guard !watched.tracks.isEmpty else { return body() }
        let callout = Callout(kind, item, code, in: self)
        let began = monotonicNow()
        let result = body()
        tellWatchers(.called(callout, from: began, until: monotonicNow()))
        return result
    }

    // MARK: The handlers

    @inline(never)
    func callWatchedObservers(_ activity: Activities, _ view: borrowing Engine.View) {
        view.observers.forEach(observing: activity) { observer in
            watchedCall(.observer, observer, activity.rawValue) { observer.callOut(activity) }
        }
    }

    @inline(never)
    func callWatched(_ source: Source) -> Bool {
        watchedCall(.source, source, 0) { source.callOut() }
    }

    @inline(never)
    func callWatched(_ firing: borrowing Engine.Firing) {
        watchedCall(.timer, firing.timer, 0) { firing.timer.callOut() }
    }

    @inline(never)
    func callWatched(
        _ delivery: borrowing Engine.Delivery,
        _ isInProcess: Bool,
        _ run: inout Run
    ) -> ServeResult {
        watchedCall(.port, delivery.port.object, 0) { call(delivery, isInProcess, &run) }
    }

    @inline(never)
    func callWatched(_ entry: JobQueue.Entry) {
        watchedCall(.job, nil, 0) { perform(entry) }
    }

    // MARK: Runs, passes and sleeps

    /// Makes the passes of a run.
    ///
    /// Afterwards the handler that ran the loop, if one did, goes on; its time begins anew.
    @inline(never)
    func watchedPasses(_ run: inout Run, in mode: Mode) -> RunResult {
        let outer = watched.activity.call
        tellWatchers(.runBegan(mode, at: monotonicNow()))
        let result = makePasses(&run)
        watched.activity.resume(outer)
        tellWatchers(.runEnded(runState.isStopped ? .stopped : result, at: monotonicNow()))
        return result
    }

    @inline(never)
    func watchedPassBegins() {
        watched.activity.begin(WatchedLoop.passing, nil)
        tellWatchers(.passBegan(at: monotonicNow(), requests: performs.withLock { $0.count }))
    }

    @inline(never)
    func watchedBlocksWereTaken(_ count: Int) { tellWatchers(.tookBlocks(count)) }

    @inline(never)
    func watchedJobsWerePerformed(_ count: Int) { tellWatchers(.performedJobs(count)) }

    @inline(never)
    func watchedSleepBegins() -> Int64 {
        watched.activity.begin(WatchedLoop.sleeping, nil)
        return monotonicNow()
    }

    @inline(never)
    func watchedSleepEnded(since began: Int64) {
        tellWatchers(.slept(from: began, until: monotonicNow()))
    }

    /// Reports a run in a mode that nothing was ever added to.
    @inline(never)
    func watchedRunWasEmpty(in mode: Mode) {
        let isKnown = withEngine { $0.isClosed || $0.modes.index(of: mode) != nil }
        if !isKnown { tellWatchers(.modeIsUnknown(mode, at: monotonicNow())) }
    }

    @inline(never)
    func watchedDescriptorsWereRefused(_ descriptors: [CInt]) {
        for descriptor in descriptors {
            tellWatchers(.refused(descriptor: descriptor, at: monotonicNow()))
        }
    }

    // MARK: The watchers

    /// The watchers' record of this loop; new watchers are told of the loop.
    private var watched: WatchedLoop {
        let local = local.here
        if let watched = local.watched, watched.version == LoopWatch.currentVersion {
            return watched
        }
        return updateWatched(local)
    }

    private func updateWatched(_ local: LocalState) -> WatchedLoop {
        let version = LoopWatch.currentVersion
        let activity = identity.activity.load() ?? identity.activity.storeIfNil(LoopActivity())
        activity.setThread()
        let known = local.watched?.known ?? []
        let members = LoopWatch.watchers.map { watcher in
            known.first { $0.watcher === watcher }
                ?? WatchedLoop.Member(watcher: watcher, track: watcher.beginWatching(self))
        }
        let watched = WatchedLoop(version: version, activity: activity, known: members)
        local.watched = watched
        return watched
    }

    /// Tells the watchers of an event.
    func tellWatchers(_ event: @autoclosure () -> LoopEvent) {
        let tracks = watched.tracks
        guard !tracks.isEmpty else { return }
        let event = event()
        for track in tracks { track.note(event) }
    }

    /// Tells the watchers that the loop has ended, and forgets them.
    func endWatching() {
        local.here.watched = nil
        guard LoopWatch.isOn else { return }
        for watcher in LoopWatch.watchers { watcher.loopDidEnd(self) }
    }
}

/// The watchers' record of a loop, and the loop's of them; only the loop's thread uses it.
final class WatchedLoop {
    struct Member {
        /// Weak, because a loop that does nothing learns late that a watcher was removed.
        weak let watcher: (any LoopWatcher)?
        let track: (any LoopTrack)?
    }

    /// The version of the watchers for which this was made.
    let version: UInt64
    let activity: LoopActivity
    let known: [Member]
    let tracks: [any LoopTrack]

    init(version: UInt64, activity: LoopActivity, known: [Member]) {
        self.version = version
        self.activity = activity
        self.known = known
        tracks = known.compactMap(\.track)
    }

    // Codes for what a loop does between handlers, beside those of the kinds of handlers.
    static let passing: UInt8 = 14
    static let sleeping: UInt8 = 15
}
