import Synchronization

/// Stores the main thread's loop so that it is read without a lock.
enum MainLoop {
    private static let pointer = unsafe Atomic<Unmanaged<UVRunLoop>?>(nil)

    /// The loop, if it was created in this process.
    static var loop: UVRunLoop? {
        let latest = unsafe pointer.load(ordering: .acquiring)?.takeUnretainedValue()
        return latest.flatMap { $0.identity.isThisProcess ? $0 : nil }
    }

    /// Sets the loop of this process's main thread.
    ///
    /// It is never released, so its references need not be counted. The one before it is its
    /// parent's: releasing that would change kernel objects that the parent still uses.
    ///
    /// - Parameter loop: The loop.
    static func set(_ loop: UVRunLoop) {
        unsafe pointer.store(immortalize(loop), ordering: .releasing)
    }
}
