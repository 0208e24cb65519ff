import Synchronization

/// Keeps a descriptor non-blocking from its creation until ``end()``, or until it is released.
///
/// It counts as one use of the descriptor, like a loop that watches it (see ``BlockingFlags``).
final class NonBlockingUse: Sendable {
    private let descriptor: CInt
    private let hasEnded = Atomic<Bool>(false)

    init(of descriptor: CInt) throws(UVError) {
        try BlockingFlags.take(descriptor)
        self.descriptor = descriptor
    }

    /// Restores the descriptor's flag, unless others use the descriptor; only the first call does.
    func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        BlockingFlags.giveBack(descriptor)
    }

    deinit { end() }
}
