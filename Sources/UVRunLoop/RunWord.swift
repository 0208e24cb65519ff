import Synchronization

/// Whether a loop runs and whether its innermost run was stopped, in one word that any thread may
/// reach.
///
/// A run's stop lives and dies with the run: it puts its own word in when it begins, and the outer
/// run's back when it is taken off.
final class RunWord: Sendable {
    struct Value {
        fileprivate var bits: UInt8

        static let idle = Value(bits: 0)
        static let running = Value(bits: 1)
        fileprivate static let stopped = Value(bits: 3)

        var isStopped: Bool { bits == Self.stopped.bits }
    }

    /// What is to become of queued work when a loop is ended for good; the larger one prevails.
    enum End: UInt8 {
        case afterQueuedWork = 1
        case atOnce = 2
    }

    private let word = Atomic<UInt8>(Value.idle.bits)
    /// The end of all runs, once it was asked for; no run takes it away.
    private let ending = Atomic<UInt8>(0)

    /// Stops the innermost run; answers `false` if none runs.
    func stop() -> Bool {
        let (_, old) = word.compareExchange(
            expected: Value.running.bits,
            desired: Value.stopped.bits,
            ordering: .acquiringAndReleasing
        )
        return old != Value.idle.bits
    }

    var isStopped: Bool { Value(bits: word.load(ordering: .acquiring)).isStopped || isEnded }

    /// Whether the innermost run was stopped by itself, and not by the end of all runs.
    var isStoppedAlone: Bool { Value(bits: word.load(ordering: .acquiring)).isStopped }

    /// Stops every run, nested ones and those to come included.
    func end(_ end: End) { ending.max(end.rawValue, ordering: .releasing) }

    var isEnded: Bool { ending.load(ordering: .acquiring) != 0 }

    var isEndedAtOnce: Bool { ending.load(ordering: .acquiring) == End.atOnce.rawValue }

    /// Puts a run's word in.
    ///
    /// - Parameter isNested: Whether there is an outer run. Without one nobody else changes the
    ///   word.
    /// - Returns: The outer run's word.
    func begin(isNested: Bool) -> Value {
        guard isNested else {
            word.store(Value.running.bits, ordering: .releasing)
            return .idle
        }
        return Value(bits: word.exchange(Value.running.bits, ordering: .acquiringAndReleasing))
    }

    /// Takes a run off: puts the outer run's word back; returns whether the run was stopped.
    ///
    /// One exchange, because a stop may come at any moment: before it, the stop is this run's;
    /// after it, the outer run's.
    func end(restoring outer: Value) -> Bool {
        let word = word.exchange(outer.bits, ordering: .acquiringAndReleasing)
        return Value(bits: word).isStopped
    }
}
