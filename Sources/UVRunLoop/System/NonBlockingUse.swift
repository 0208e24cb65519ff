internal import CUVSupport

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

    /// Calls a body, which may close the descriptor, while the open file is non-blocking.
    ///
    /// A standard descriptor keeps its flags, and so does one that the system does not let change.
    static func whileNonBlocking<Result>(_ descriptor: CInt, _ body: () -> Result) -> Result {
        if StandardDescriptors.all.contains(descriptor) { return body() }
        // Of a copy, because the number may belong to another file when the body has returned. If
        // the body closes the descriptor, the file is closed then.
        let number = cuv_duplicate(descriptor, StandardDescriptors.all.upperBound + 1)
        let copy = number >= 0 ? Descriptor(owning: number) : nil
        // No descriptor may be left for a copy.
        let use = try? NonBlockingUse(of: number >= 0 ? number : descriptor)
        let result = body()
        use?.end()
        withExtendedLifetime(copy) {}
        return result
    }
}
