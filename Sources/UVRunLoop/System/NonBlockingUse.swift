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
        if StandardDescriptors.all.contains(descriptor) { return body() }
        // Of a copy, because the number may belong to another file when the body has returned. If
        // the body closes the descriptor, the file is closed then.
        let number = cuv_duplicate(descriptor, StandardDescriptors.next)
        guard number >= 0 else { return lastingWithoutACopy(descriptor, body) }
        let copy = Descriptor(owning: number)
        let use = try? NonBlockingUse(of: number)
        let result = body()
        use?.end()
        copy.close()
        return result
    }

    /// The same when no descriptors are left for a copy.
    private static func lastingWithoutACopy<Result>(
        _ descriptor: CInt,
        _ body: () -> Result
    ) -> Result {
        let use = try? NonBlockingUse(of: descriptor)
        defer { use?.end() }
        return body()
    }
}
