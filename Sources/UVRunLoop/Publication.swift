/// What everybody may know of a value behind a lock, in one word that is read without the lock.
///
/// Whoever changes the value publishes before the lock is released, and marks the ``WakeState``
/// after that, always: a loop that finds the mark finds what was published.
struct Publication<Word: AtomicWord & ~Copyable>: ~Copyable, Sendable {
    private let word = Word(0)

    /// To be called under the lock.
    @inline(__always)
    func publish(_ bits: UInt64) {
        if word.loadRelaxed() != bits { word.storeReleasing(bits) }
    }

    @inline(__always)
    var latest: UInt64 { word.loadAcquiring() }
}
