internal import CUVSupport

/// A latch that is opened once, and that any number of threads may wait for.
///
/// Unchecked: the system's semaphore is behind a pointer, and is made for use by many threads.
@safe
final class Latch: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    func open() { unsafe sem_post(semaphore) }

    /// Waits until the latch is open.
    func wait() {
        // The only error is an interruption by a signal handler.
        while unsafe sem_wait(semaphore) != 0 {}
        // Each thread that was woken wakes the next.
        unsafe sem_post(semaphore)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }
}
