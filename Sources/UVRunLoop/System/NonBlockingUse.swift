/// Keeps a descriptor non-blocking from its creation until ``end()``, or until it is released.
///
/// It counts as one use of the descriptor, like a loop that watches it (see ``BlockingFlags``).
final class NonBlockingUse: Sendable {
    private let descriptor: CInt
    /// Held while the flag is restored: when any call of ``end()`` has returned, it is.
    private let hasEnded = Guarded(false)

    init(of descriptor: CInt) throws(UVError) {
        try BlockingFlags.take(descriptor)
        self.descriptor = descriptor
    }

    /// Restores the descriptor's flag, unless others use the descriptor; only the first call does.
    func end() {
        hasEnded.withLock { hasEnded in
            if !exchange(&hasEnded, with: true) { BlockingFlags.giveBack(descriptor) }
        }
    }

    deinit { end() }
}
