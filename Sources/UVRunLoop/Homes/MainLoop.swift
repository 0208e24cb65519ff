import Synchronization

/// Where the main thread's loop is found without a lock.
enum MainLoop {
    private static let place = unsafe Atomic<Unmanaged<UVRunLoop>?>(nil)

    /// The loop that was made last for a main thread, perhaps by a process that this one was forked
    /// from; it is never released.
    static var loop: UVRunLoop? {
        get { unsafe place.load(ordering: .acquiring)?.takeUnretainedValue() }
        set {
            let loop = unsafe newValue.map { unsafe Unmanaged.passRetained($0) }
            unsafe place.store(loop, ordering: .releasing)
        }
    }
}
