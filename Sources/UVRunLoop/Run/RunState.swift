/// The runs of a loop, as far as other threads may touch them.
typealias RunState = GenericRunState<SystemWord>

/// Whether a loop runs and whether its innermost run was stopped, in one word that any thread may
/// reach.
///
/// A run's stop lives and dies with the run: it puts its own word in when it begins, and the outer
/// run's back when it is taken off.
struct GenericRunState<Word: AtomicWord & ~Copyable>: ~Copyable, Sendable {
    private let word = Word(RunStateValue.idle.bits)
    /// The end of all runs, once it was asked for; no run takes it away.
    private let ending = Word(0)

    /// Stops the innermost run; answers `false` if none runs.
    @inline(__always)
    func stop() -> Bool {
        word.compareExchange(RunStateValue.running.bits, RunStateValue.stopped.bits)
            != RunStateValue.idle.bits
    }

    @inline(__always)
    var isStopped: Bool { RunStateValue(bits: word.loadAcquiring()).isStopped || isEnded }

    /// Whether the innermost run was stopped by itself, and not by the end of all runs.
    var isStoppedAlone: Bool { RunStateValue(bits: word.loadAcquiring()).isStopped }

    /// Stops every run, nested ones and those to come included.
    @inline(__always)
    func end(_ end: RunEnd) { ending.maxReleasing(end.rawValue) }

    @inline(__always)
    var isEnded: Bool { ending.loadAcquiring() != 0 }

    @inline(__always)
    var isEndedAtOnce: Bool { ending.loadAcquiring() == RunEnd.atOnce.rawValue }

    /// Puts a run's word in.
    ///
    /// - Parameter isNested: Whether there is an outer run. Without one nobody else changes the
    ///   word.
    /// - Returns: The outer run's word.
    @inline(__always)
    func begin(isNested: Bool) -> RunStateValue {
        guard isNested else {
            word.storeReleasing(RunStateValue.running.bits)
            return .idle
        }
        return RunStateValue(bits: word.exchange(RunStateValue.running.bits))
    }

    /// Takes a run off: puts the outer run's word back; returns whether the run was stopped.
    ///
    /// One exchange, because a stop may come at any moment: before it, the stop is this run's;
    /// after it, the outer run's.
    @inline(__always)
    func end(restoring outer: RunStateValue) -> Bool {
        RunStateValue(bits: word.exchange(outer.bits)).isStopped
    }
}

/// A run's word.
struct RunStateValue {
    fileprivate(set) var bits: UInt64

    static let idle = RunStateValue(bits: 0)
    fileprivate static let running = RunStateValue(bits: 1)
    fileprivate static let stopped = RunStateValue(bits: 3)

    var isStopped: Bool { bits == Self.stopped.bits }
}

/// What is to become of queued work when a loop is ended for good; the larger one prevails.
enum RunEnd: UInt64 {
    case afterQueuedWork = 1
    case atOnce = 2
}
