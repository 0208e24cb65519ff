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
    var isStoppedAlone: Bool { RunStateValue(bits: word.loadAcquiring()).isStopped }

    /// Stops every run, nested and future ones included.
    @inline(__always)
    func end(_ end: RunEnd) { ending.maxReleasing(end.rawValue) }

    @inline(__always)
    var isStoppedForGood: Bool { ending.loadAcquiring() != 0 }

    @inline(__always)
    var isEndedAtOnce: Bool { ending.loadAcquiring() == RunEnd.atOnce.rawValue }

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

/// The word of a run.
struct RunStateValue {
    fileprivate(set) var bits: UInt64

    static let idle = RunStateValue(bits: 0)
    fileprivate static let running = RunStateValue(bits: 1)
    fileprivate static let stopped = RunStateValue(bits: 3)

    var isStopped: Bool { bits == Self.stopped.bits }
}

/// Whether queued work is performed when a loop is ended; of two values the larger one prevails.
enum RunEnd: UInt64 {
    case afterQueuedWork = 1
    case atOnce = 2
}
