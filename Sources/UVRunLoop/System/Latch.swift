internal import CUVSupport

/// A door that is opened once, and that any number of threads may wait behind.
///
/// Unchecked, because the system's semaphore is behind a pointer; it is made for many threads.
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
        // The one failure there is: a signal handler was called meanwhile.
        while unsafe sem_wait(semaphore) != 0 {}
        // Whoever is through holds the door for the next.
        unsafe sem_post(semaphore)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }
}
