/// The state of a loop's innermost run that other threads may read and change.
typealias RunState = GenericRunState<SystemWord>

/// Whether a loop runs, and whether its innermost run was stopped, in one word for any thread.
///
/// A stop belongs to one run: a run stores its own word when it begins, and restores the outer
/// run's word when it ends.
struct GenericRunState<Word: AtomicWord & ~Copyable>: ~Copyable, Sendable {
    private let word = Word(RunStateValue.idle.bits)
    /// Set once the loop was ended; no run clears it.
    private let ending = Word(0)

    /// Stops the innermost run; returns `false` if none is active.
    @inline(__always)
    func stop() -> Bool {
        word.compareExchange(RunStateValue.running.bits, RunStateValue.stopped.bits)
            != RunStateValue.idle.bits
    }

    @inline(__always)
    var isStopped: Bool { RunStateValue(bits: word.loadAcquiring()).isStopped || isStoppedForGood }

    /// Whether a run is active.
    var isRunning: Bool { word.loadAcquiring() != RunStateValue.idle.bits }

    /// Whether the innermost run was stopped by itself, as opposed to the end of the whole loop.
    var isThisRunStopped: Bool { RunStateValue(bits: word.loadAcquiring()).isStopped }

    /// Stops every run, nested and future ones included.
    @inline(__always)
    func endForGood(_ end: RunEnd) { ending.maxReleasing(end.rawValue) }

    @inline(__always)
    var isStoppedForGood: Bool { ending.loadAcquiring() != 0 }

    /// Whether the loop was ended and its queued work is discarded at a date.
    func isQueuedWorkDiscarded(at now: () -> Int64) -> Bool {
        RunEnd(rawValue: ending.loadAcquiring())?.isPast(at: now) ?? false
    }

    /// Stores the word of a run that begins.
    ///
    /// - Parameter isNested: Whether there is an outer run. Without one, no other thread changes
    ///   the word.
    /// - Returns: The outer run's word.
    @inline(__always)
    func begin(isNested: Bool) -> RunStateValue {
        guard isNested else {
            word.storeReleasing(RunStateValue.running.bits)
            return .idle
        }
        return RunStateValue(bits: word.exchange(RunStateValue.running.bits))
    }

    /// Restores the outer run's word.
    ///
    /// One exchange, because a stop may come at any moment: before the exchange it stops this run,
    /// after it the outer one.
    ///
    /// - Returns: Whether the run was stopped.
    @inline(__always)
    func end(restoring outer: RunStateValue) -> Bool {
        RunStateValue(bits: word.exchange(outer.bits)).isStopped
    }
}

extension GenericRunState where Word == SystemWord {
    /// Where a fork handler ends every run in a child, as with ``RunEnd/atOnce``.
    var endAddress: WordAddress { ending.address }
}

/// The word of a run.
struct RunStateValue {
    fileprivate(set) var bits: UInt64

    static let idle = RunStateValue(bits: 0)
    fileprivate static let running = RunStateValue(bits: 1)
    fileprivate static let stopped = RunStateValue(bits: 3)

    var isStopped: Bool { bits == Self.stopped.bits }
}

/// Until when queued work is performed when a loop is ended.
///
/// Of two values the larger one prevails: the one that discards more.
struct RunEnd {
    /// The distance of the date from the last of all dates, plus one; less than 2^63.
    let rawValue: UInt64

    /// All queued work is performed.
    static let afterQueuedWork = RunEnd(limit: .max)
    /// The largest value; `end_runs_of_parent` stores it, too.
    static let atOnce = RunEnd(limit: firstDate)
    /// A date that is past by any clock.
    fileprivate static let firstDate: Int64 = 1

    /// Queued work that has not begun at a date of the loop's clock is discarded.
    init(limit: Int64) { rawValue = UInt64(Int64.max - max(limit, Self.firstDate)) + 1 }

    /// `nil` for zero, which stands for no end.
    fileprivate init?(rawValue: UInt64) {
        if rawValue == 0 { return nil }
        self.rawValue = rawValue
    }

    /// Whether queued work is discarded at a date.
    fileprivate func isPast(at now: () -> Int64) -> Bool {
        if rawValue == Self.afterQueuedWork.rawValue { return false }
        let date = Int64.max - Int64(rawValue - 1)
        return date == Self.firstDate || date <= now()
    }
}
