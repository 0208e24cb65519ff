/// The thread of a monitor, and the loops that it looks at.
final class HangWatch: LoopWatcher {
    typealias Handler = @Sendable (UVRunLoop.Monitor.Event) -> Void

    private struct Watched {
        let loop: UVRunLoop
        let activity: LoopActivity
        /// What the activity said before the monitor.
        let former: LoopActivity.Word
        /// The hang that was reported, and what the thread was doing.
        var hang: (hang: UVRunLoop.Hang, word: LoopActivity.Word)?
    }

    /// Milliseconds.
    private let threshold: Int64
    private let capturesStacks: Bool
    private let handler: Handler
    private let loops = Guarded<[Watched]>([])
    private let thread = HelperThread()

    private init(_ threshold: Duration, _ capturesStacks: Bool, _ handler: @escaping Handler) {
        self.threshold = max(1, threshold.nanosecondsRoundedUp / 1_000_000)
        self.capturesStacks = capturesStacks
        self.handler = handler
    }

    static func begin(
        _ threshold: Duration,
        _ capturesStacks: Bool,
        _ handler: @escaping Handler
    ) throws(UVError) -> HangWatch {
        let watch = HangWatch(threshold, capturesStacks, handler)
        if capturesStacks { LoopActivity.prepareCapture() }
        try watch.thread.start("monitor") { watch.watchAll() }
        LoopWatch.add(watch)
        return watch
    }

    /// Ends the thread, and waits for it, unless it is the caller.
    func end() {
        guard thread.isOfThisProcess else { return }
        LoopWatch.remove(self)
        thread.end()
        let loops = loops.withLock { exchange(&$0, with: []) }
        withExtendedLifetime(loops) {}
    }

    // MARK: The loops' threads

    func beginWatching(_ loop: UVRunLoop) -> (any LoopTrack)? {
        guard let activity = loop.identity.activity.load() else { return nil }
        let watched = Watched(loop: loop, activity: activity, former: activity.word)
        loops.withLock { $0.append(watched) }
        return nil
    }

    func loopDidEnd(_ loop: UVRunLoop) {
        let ended = loops.withLock { loops in
            let ended = loops.filter { $0.loop === loop }
            loops.removeAll { $0.loop === loop }
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    // MARK: The monitor's thread

    private func watchAll() {
        let period = max(1, threshold / 4) * 1_000_000
        while !thread.isEnding(by: monotonicNow() + period) {
            let loops = loops.withLock { $0 }
            for watched in loops where !thread.isEnding(by: 0) { look(at: watched) }
        }
    }

    private func look(at watched: Watched) {
        let word = watched.activity.word
        guard let (hang, hangingWord) = watched.hang else {
            if let hang = hang(of: watched, word) { report(hang, word, watched.loop) }
            return
        }
        guard word != hangingWord || watched.loop.isAsleep else { return }
        setHang(nil, of: watched.loop)
        let end = word == hangingWord ? LoopActivity.coarseTime : max(word.began, hangingWord.began)
        handler(.ended(hang.lasting(.milliseconds(end - hangingWord.began))))
    }

    private func report(_ hang: UVRunLoop.Hang, _ word: LoopActivity.Word, _ loop: UVRunLoop) {
        setHang((hang, word), of: loop)
        handler(.began(hang))
    }

    private func setHang(
        _ hang: (hang: UVRunLoop.Hang, word: LoopActivity.Word)?,
        of loop: UVRunLoop
    ) {
        loops.withLock { loops in
            guard let index = loops.firstIndex(where: { $0.loop === loop }) else { return }
            loops[index].hang = hang
        }
    }

    /// The hang of a loop, if it is in a handler for too long.
    private func hang(of watched: Watched, _ word: LoopActivity.Word) -> UVRunLoop.Hang? {
        guard let kind = UVRunLoop.HandlerKind(rawValue: word.code), word != watched.former,
            !watched.loop.isAsleep
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
        let item = capture.item ?? (kind == .timer ? watched.loop.innermostTimer : nil)
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
        switch item {
        // The handler of a one-shot timer may have ended meanwhile.
        case let timer as UVRunLoop.Timer where !timer.isValid:
            ObjectLine(kind: "Timer", label: timer.label).text
        case let timer as UVRunLoop.Timer: timer.description
        case let source as UVRunLoop.Source: source.description
        case let observer as UVRunLoop.Observer: observer.description
        case let port as any UVRunLoop.PortSource: port.link.line(of: port).text
        default: "\(type(of: item))"
        }
    }
}

extension UVRunLoop {
    fileprivate var isAsleep: Bool { word.isAsleep }

    /// The timer whose handler is innermost on the stack, of those that the loop knows of.
    fileprivate var innermostTimer: Timer? { withEngine { $0.firing.timers.last } }
}
