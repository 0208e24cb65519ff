internal import CUVSupport
import Synchronization

/// A value behind a lock, with threads that wait for a change.
///
/// Unchecked: its parts are behind pointers, and the value is only reachable under the lock.
@safe
final class ConditionGuarded<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let value: UnsafeMutablePointer<Value>
    /// The number of threads that wait or are about to, so that ``wakeAll()`` without waiters makes
    /// no system call.
    private let waiters = Atomic<Int>(0)

    init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe cuv_mutex_init(mutex)
        unsafe condition = .allocate(capacity: 1)
        unsafe cuv_condition_init(condition)
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    /// Lends the value while no other thread has it; the body must not call user code.
    func withLock<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe body(&value.pointee)
    }

    /// Calls the body, and again after every change, until it returns a result.
    ///
    /// - Parameters:
    ///   - date: When to call it for the last time, in nanoseconds of the monotonic clock.
    ///   - body: Returns `nil` while there is no result.
    /// - Returns: The result, or `nil` if the date has passed without one.
    func wait<Result: Sendable>(
        until date: Int64,
        for body: (inout Value) -> Result?
    ) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        if let result = unsafe body(&value.pointee) { return result }
        guard date > monotonicNow() else { return nil }
        // Counted before the next check, so that a thread that makes a change after the check sees
        // the waiter.
        waiters.add(1, ordering: .acquiringAndReleasing)
        defer { waiters.subtract(1, ordering: .relaxed) }
        while true {
            if let result = unsafe body(&value.pointee) { return result }
            if unsafe cuv_condition_wait(condition, mutex, date) != 0, date <= monotonicNow() {
                return unsafe body(&value.pointee)
            }
        }
    }

    /// Wakes every waiting thread to check again.
    func wakeAll() {
        // A thread that counts itself after this sees every change made before it.
        guard waiters.add(0, ordering: .acquiringAndReleasing).oldValue > 0 else { return }
        // Under the lock, so that a thread whose check found nothing is asleep by then.
        unsafe pthread_mutex_lock(mutex)
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }
}
