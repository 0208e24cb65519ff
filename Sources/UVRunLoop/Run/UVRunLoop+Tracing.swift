// A loop's reports to its tracers. The loop calls those that are inlined in any case, and they read
// one word; the others, but for the one at its end, only while something traces.

extension UVRunLoop {
    /// Calls a handler of an item, or a block or job.
    ///
    /// - Parameters:
    ///   - kind: The kind of handler.
    ///   - item: The item.
    ///   - isByHand: Whether other code than the loop calls a timer.
    ///   - body: Makes the call.
    /// - Returns: The result of `body`.
    @inline(__always)
    func calling<Result>(
        _ kind: HandlerKind,
        _ item: AnyObject? = nil,
        isByHand: Bool = false,
        _ body: () -> Result
    ) -> Result {
        LoopTracing.isOn ? tracedCall(kind, item, isByHand: isByHand, body) : body()
    }

    /// Calls a handler, and tells the tracers if it was called.
    ///
    /// A handler that calls a timer by hand goes on, and may be the one that hangs.
    @inline(never)
    func tracedCall<Result>(
        _ kind: HandlerKind,
        _ item: AnyObject?,
        during activity: Activities = [],
        isByHand: Bool = false,
        wasCalled: (Result) -> Bool = { _ in true },
        _ body: () -> Result
    ) -> Result {
        let traced = traced
        // What the thread goes on with afterwards.
        let outer = isByHand ? traced.activity.call : LoopActivity.Call(TracedLoop.passing)
        let isInHandler = HandlerKind(rawValue: outer.code) != nil
        if !isInHandler { traced.activity.begin(kind.rawValue, item) }
        // The item may be released as soon as its handler has returned.
        defer { if !isInHandler { traced.activity.resume(outer) } }
        guard !traced.workTracks.isEmpty else { return body() }
        let callout = Callout(kind, item, activity, isByHand: isByHand, in: self)
        let began = monotonicNow()
        let result = body()
        checkProcess()
        if wasCalled(result) { trace(.called(callout, from: began, until: monotonicNow())) }
        return result
    }

    @inline(never)
    func callTracedObservers(_ activity: Activities, _ view: borrowing Engine.View) {
        view.observers.forEach(observing: activity) { observer in
            _ = tracedCall(.observer, observer, during: activity, wasCalled: { $0 }) {
                observer.callOut(activity)
            }
            checkProcess()
        }
    }

    /// Performs a source; not inlined, because its closure took 50 instructions of every call.
    @inline(never)
    func callTraced(_ source: Source) -> Bool {
        tracedCall(.source, source, wasCalled: { $0 }) { source.callOut() }
    }

    /// Serves a port; not inlined, because its closure took 70 instructions of every event.
    @inline(never)
    func callTraced(_ delivery: borrowing Engine.Delivery, _ run: inout Run) -> ServeResult {
        tracedCall(.port, delivery.port.object, wasCalled: \.wasHandled) { call(delivery, &run) }
    }

    // MARK: Runs, passes and sleeps

    /// Makes the passes of a run.
    ///
    /// Afterwards the handler that ran the loop, if one did, goes on; its time begins anew.
    @inline(never)
    func tracedPasses(_ run: inout Run, in mode: Mode) -> RunResult {
        let outer = traced.activity.call
        let level = run.local.nestingLevel
        trace(.runBegan(mode, level: level, at: monotonicNow()))
        let result = makePasses(&run)
        traced.activity.resume(outer)
        trace(.runEnded(runState.isStopped ? .stopped : result, at: monotonicNow()))
        return result
    }

    @inline(never)
    func tracedPassBegins() {
        traced.activity.begin(TracedLoop.passing, nil)
        trace(.passBegan(at: monotonicNow(), requests: performQueue.withLock { $0.count }))
    }

    @inline(never)
    func tracedSleepBegins() -> Int64 {
        traced.activity.begin(TracedLoop.sleeping, nil)
        return monotonicNow()
    }

    /// Reports a run in a mode that nothing was ever added to.
    @inline(never)
    func tracedRunWasEmpty(in mode: Mode) {
        // Nothing is ever added to the name of the common modes as a mode of its own.
        if mode.isCommonName { return }
        let isExpected = withEngine { engine in
            engine.isClosed
                || engine.modes.index(of: mode).map { engine.modes[$0].wasUsed } ?? false
        }
        if !isExpected { traceMistake(.modeIsUnused(mode, at: monotonicNow())) }
    }

    // MARK: The tracers

    /// The tracers' record of this loop; new tracers are notified of the loop.
    private var traced: TracedLoop {
        let local = local.here
        if let traced = local.traced, traced.version == LoopTracing.currentVersion {
            return traced
        }
        return updateTraced(local)
    }

    private func updateTraced(_ local: LocalState) -> TracedLoop {
        let (tracers, version) = LoopTracing.present
        let activity = identity.activity.object ?? identity.activity.store(LoopActivity())
        activity.setThread()
        let known = local.traced?.known ?? []
        let members = tracers.map { tracer in
            known.first { $0.tracer === tracer }
                ?? TracedLoop.Member(tracer: tracer, track: tracer.beginTracing(self))
        }
        // A tracer may call other code, which may fork.
        checkProcess()
        let traced = TracedLoop(version: version, activity: activity, known: members)
        local.traced = traced
        return traced
    }

    /// Tells the tracers of what the loop does; to be called only while something traces that.
    @inline(never)
    func trace(_ event: @autoclosure () -> LoopEvent) { tell(traced.workTracks, event) }

    /// Tells the tracers of what is likely to be a mistake; to be called only while there are some.
    @inline(never)
    func traceMistake(_ event: @autoclosure () -> LoopEvent) { tell(traced.tracks, event) }

    private func tell(_ tracks: [any LoopTrack], _ event: () -> LoopEvent) {
        guard !tracks.isEmpty else { return }
        let event = event()
        for track in tracks { track.record(event) }
        checkProcess()
    }

    /// Tells the tracers that the loop has ended, and forgets them.
    func endTracing() {
        local.here.traced = nil
        guard LoopTracing.hasTracers else { return }
        for tracer in LoopTracing.tracers { tracer.loopDidEnd(self) }
    }
}

/// The tracers' record of a loop, and the loop's of them; only the loop's thread uses it.
final class TracedLoop {
    struct Member {
        /// Weak, because a loop that does nothing learns late that a tracer was removed.
        weak let tracer: (any LoopTracer)?
        let track: (any LoopTrack)?
    }

    /// The version of the tracers for which this was made.
    let version: UInt64
    let activity: LoopActivity
    let known: [Member]
    let tracks: [any LoopTrack]
    /// Those that are notified of what the loop does, and not only of mistakes.
    let workTracks: [any LoopTrack]

    init(version: UInt64, activity: LoopActivity, known: [Member]) {
        self.version = version
        self.activity = activity
        self.known = known
        tracks = known.compactMap(\.track)
        workTracks = known.filter { $0.tracer?.tracesWork == true }.compactMap(\.track)
    }

    // Codes for what a loop does between handlers, beside those of the kinds of handlers.
    static let passing: UInt8 = 14
    static let sleeping: UInt8 = 15
}
