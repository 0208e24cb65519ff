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
    static func lasting<Result>(_ descriptor: CInt, _ body: () -> Result) -> Result {
        let isStandard = StandardDescriptors.all.contains(descriptor)
        // Of a copy, because the number may belong to another file when the body has returned.
        let number = isStandard ? -1 : cuv_duplicate(descriptor, StandardDescriptors.next)
        guard number >= 0 else { return body() }
        let copy = Descriptor(owning: number)
        let use = try? NonBlockingUse(of: number)
        let result = body()
        use?.end()
        copy.close()
        return result
    }
}
