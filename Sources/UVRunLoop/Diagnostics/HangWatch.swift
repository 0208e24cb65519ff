/// The thread of a monitor, and the loops that it checks.
final class HangWatch: LoopTracer {
    typealias Handler = @Sendable (UVRunLoop.Monitor.Event) -> Void

    private struct Watched {
        let loop: UVRunLoop
        let activity: LoopActivity
        /// The activity's word before the monitor.
        let former: LoopActivity.Word
        /// The hang that was reported, and what the thread was doing.
        var hang: (hang: UVRunLoop.Hang, word: LoopActivity.Word)?
        /// When the loop has ended, in milliseconds of the activity's clock.
        var end: Int64?

        /// The timer whose handler runs, of those that the loop knows of; not one that the handler
        /// calls by hand.
        var runningTimer: UVRunLoop.Timer? {
            loop.withEngine { $0.runningTimers.timers }.last { activity.isOf($0) }
        }
    }

    private struct State {
        /// Loops are added by their threads, and removed by the monitor's.
        var loops: [Watched] = []
        /// `nil` once the monitor has ended.
        var handler: Handler?
    }

    /// Milliseconds.
    private let threshold: Int64
    private let capturesStacks: Bool
    private let state: Guarded<State>
    private let thread = WorkerThread()

    private init(_ threshold: Duration, _ capturesStacks: Bool, _ handler: @escaping Handler) {
        self.threshold = max(1, threshold.nanosecondsRoundedUp / 1_000_000)
        self.capturesStacks = capturesStacks
        state = Guarded(State(handler: handler))
    }

    static func begin(
        _ threshold: Duration,
        _ capturesStacks: Bool,
        _ handler: @escaping Handler
    ) throws(UVError) -> HangWatch {
        let watch = HangWatch(threshold, capturesStacks, handler)
        if capturesStacks { LoopActivity.prepareCapture() }
        try watch.thread.start("monitor") { watch.watchAll() }
        LoopTracing.add(watch)
        return watch
    }

    /// Ends the thread, and waits for it, unless it is the caller.
    func end() {
        guard thread.isOfThisProcess else { return }
        LoopTracing.remove(self)
        thread.end()
        let former = state.withLock { exchange(&$0, with: State()) }
        withExtendedLifetime(former) {}
    }

    // MARK: The loops' threads

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? {
        guard let activity = loop.identity.activity.object else { return nil }
        let watched = Watched(loop: loop, activity: activity, former: activity.word)
        state.withLock { if $0.handler != nil { $0.loops.append(watched) } }
        return nil
    }

    /// Forgets the loop, or leaves it to the monitor's thread if that has to report the end of a
    /// hang.
    func loopDidEnd(_ loop: UVRunLoop) {
        var isHanging = false
        change(loop) { watched in
            watched.end = LoopActivity.coarseTime
            isHanging = watched.hang != nil
        }
        if !isHanging { forget(loop) }
    }

    private func change(_ loop: UVRunLoop, _ body: (inout Watched) -> Void) {
        state.withLock { state in
            guard let index = state.loops.firstIndex(where: { $0.loop === loop }) else { return }
            body(&state.loops[index])
        }
    }

    // MARK: The monitor's thread

    private func watchAll() {
        let period = max(1, threshold / 4) * 1_000_000
        while !thread.awaitEnd(until: monotonicNow() + period) {
            let loops = state.withLock { $0.loops }
            for watched in loops where !thread.awaitEnd(until: 0) { check(watched) }
        }
    }

    private func check(_ watched: Watched) {
        let word = watched.activity.word
        if let (reported, hangingWord) = watched.hang {
            guard word != hangingWord || watched.loop.wakeState.isAsleep || watched.end != nil
            else { return }
            change(watched.loop) { $0.hang = nil }
            let end = word == hangingWord ? LoopActivity.coarseTime : word.began
            var hang = reported
            hang.duration = .milliseconds(max(0, (watched.end ?? end) - hangingWord.began))
            callHandler(.ended(hang))
        } else if watched.end == nil, let hang = hang(of: watched, word) {
            guard begin(hang, word, of: watched.loop) else { return }
            callHandler(.began(hang))
        }
        if watched.end != nil { forget(watched.loop) }
    }

    private func callHandler(_ event: UVRunLoop.Monitor.Event) {
        let handler = state.withLock { $0.handler }
        OwnerProcess.callWithoutFork("A monitor's handler") { handler?(event) }
    }

    /// Records a hang, unless the loop has ended meanwhile: nobody would report the hang's end.
    private func begin(
        _ hang: UVRunLoop.Hang,
        _ word: LoopActivity.Word,
        of loop: UVRunLoop
    ) -> Bool {
        var isThere = false
        change(loop) { watched in
            guard watched.end == nil else { return }
            watched.hang = (hang, word)
            isThere = true
        }
        return isThere
    }

    private func forget(_ loop: UVRunLoop) {
        let ended = state.withLock { state in
            let ended = state.loops.filter { $0.loop === loop }
            state.loops.removeAll { $0.loop === loop }
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    /// The hang of a loop, if it is in a handler for too long.
    private func hang(of watched: Watched, _ word: LoopActivity.Word) -> UVRunLoop.Hang? {
        guard let kind = UVRunLoop.HandlerKind(rawValue: word.code), word != watched.former,
            !watched.loop.wakeState.isAsleep
        else { return nil }
        let duration = LoopActivity.coarseTime - word.began
        // The handler may have begun any time before the tick after that of the word.
        guard duration >= threshold + LoopActivity.tick else { return nil }
        return capture(watched, kind, word, .milliseconds(duration))
    }

    private func capture(
        _ watched: Watched,
        _ kind: UVRunLoop.HandlerKind,
        _ word: LoopActivity.Word,
        _ duration: Duration
    ) -> UVRunLoop.Hang? {
        let capture =
            capturesStacks
            ? watched.activity.capture(word, of: watched.loop.thread.number)
            : LoopActivity.Capture(frames: [], item: nil)
        guard let capture else { return nil }
        let item = capture.item ?? (kind == .timer ? watched.runningTimer : nil)
        return UVRunLoop.Hang(
            loop: watched.loop,
            kind: kind,
            label: UVRunLoop.label(of: item),
            item: item.map { Self.line(of: $0) },
            duration: duration,
            stack: capture.frames
        )
    }

    private static func line(of item: AnyObject) -> String {
        // The handler of a one-shot timer may have ended meanwhile.
        if let timer = item as? UVRunLoop.Timer, !timer.isValid {
            return ObjectLine(kind: "Timer", label: timer.label).text
        }
        return "\(item)"
    }
}
