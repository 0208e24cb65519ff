import Synchronization

/// Stores the main thread's loop so that it is read without a lock.
enum MainLoop {
    private static let place = unsafe Atomic<Unmanaged<UVRunLoop>?>(nil)

    /// The latest loop of a main thread, possibly of a process that this one was forked from; never
    /// released.
    static var loop: UVRunLoop? {
        get { unsafe place.load(ordering: .acquiring)?.takeUnretainedValue() }
        set {
            let loop = unsafe newValue.map { unsafe Unmanaged.passRetained($0) }
            unsafe place.store(loop, ordering: .releasing)
        }
    }
}
