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

    private let word = Atomic<UInt8>(Value.idle.bits)

    /// Stops the innermost run; answers `false` if none runs.
    func stop() -> Bool {
        let (_, old) = word.compareExchange(
            expected: Value.running.bits,
            desired: Value.stopped.bits,
            ordering: .acquiringAndReleasing
        )
        return old != Value.idle.bits
    }

    var isStopped: Bool { Value(bits: word.load(ordering: .acquiring)).isStopped }

    /// Puts a run's word in, or the outer one's back; answers what was there.
    func exchange(_ value: Value) -> Value {
        Value(bits: word.exchange(value.bits, ordering: .acquiringAndReleasing))
    }
}
