internal import CUVSupport
import Synchronization

/// A value behind a lock, on which threads can wait for a change.
///
/// Unchecked, because it keeps its parts behind pointers; nobody gets at the value but under the
/// lock.
@safe
final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let value: UnsafeMutablePointer<Value>
    /// How many threads wait, or are about to: so that nobody makes a system call for none.
    private let waiters = Atomic<Int>(0)

    init(_ value: consuming sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe cuv_mutex_init(mutex)
        unsafe condition = .allocate(capacity: 1)
        unsafe cuv_condition_init(condition)
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    /// Lends the value while no other thread has it; the body calls nobody.
    func withLock<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe body(&value.pointee)
    }

    /// Asks for something of the value, again after every change, until there is an answer.
    ///
    /// - Parameters:
    ///   - date: When to ask for the last time, in nanoseconds of the monotonic clock.
    ///   - body: Answers `nil` while there is nothing yet.
    /// - Returns: The answer, or `nil` when the date has come without one.
    func wait<Answer: Sendable>(
        until date: Int64,
        for body: (inout Value) -> Answer?
    ) -> Answer? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        if let result = unsafe body(&value.pointee) { return result }
        guard date > monotonicNow() else { return nil }
        // Counted before the next look, so that whoever makes a change after it sees that somebody
        // waits.
        waiters.add(1, ordering: .acquiringAndReleasing)
        defer { waiters.subtract(1, ordering: .relaxed) }
        while true {
            if let result = unsafe body(&value.pointee) { return result }
            if unsafe cuv_condition_wait(condition, mutex, date) != 0, date <= monotonicNow() {
                return unsafe body(&value.pointee)
            }
        }
    }

    /// Has every thread that waits ask again.
    func wakeAll() {
        // A thread that counts itself after this sees what was changed before it.
        guard waiters.add(0, ordering: .acquiringAndReleasing).oldValue > 0 else { return }
        // Under the lock: a thread that has asked in vain sleeps before the lock is free.
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
