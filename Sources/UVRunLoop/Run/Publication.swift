/// A summary of a value behind a lock, in one word that is read without the lock.
///
/// A change to the value is published before the lock is released, and the ``WakeState`` is marked
/// after that. So a loop that sees the mark sees the published word.
struct Publication<Word: AtomicWord & ~Copyable>: ~Copyable, Sendable {
    private let word = Word(0)

    /// Publishes the summary; called while the lock is held.
    @inline(__always)
    func publish(_ bits: UInt64) {
        if word.loadRelaxed() != bits { word.storeReleasing(bits) }
    }

    @inline(__always)
    var latest: UInt64 { word.loadAcquiring() }
}
