import Glibc

/// Lets several threads go on at the same moment.
package final class Gate: @unchecked Sendable {
    private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)

    package init(threads: Int) { pthread_barrier_init(barrier, nil, UInt32(threads)) }

    /// Waits until as many threads as the gate was made for are here.
    package func pass() { pthread_barrier_wait(barrier) }

    deinit {
        pthread_barrier_destroy(barrier)
        barrier.deallocate()
    }
}
