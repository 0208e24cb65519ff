internal import CUVSupport
import Synchronization

/// A value behind a lock, with threads that wait for a change.
final class ConditionGuarded<Value>: Sendable {
    private let value: Guarded<Value>
    /// The number of times that waiting threads were woken; they sleep on it.
    private let wakeUps = Atomic<UInt32>(0)
    /// The number of threads that wait or are about to, so that ``wakeAll()`` without waiters
    /// makes no system call.
    private let waiters = Atomic<Int>(0)

    init(_ value: consuming sending Value) { self.value = Guarded(value) }

    /// Lends the value while no other thread has it; the body must not call user code.
    @inline(__always)
    func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
        value.withLock(body)
    }

    /// Calls the body, and again after every change, until it returns a result.
    ///
    /// - Parameters:
    ///   - date: When to call it for the last time, in nanoseconds of the monotonic clock.
    ///   - body: Returns `nil` while there is no result.
    /// - Returns: The result, or `nil` if the date has passed without one.
    @inline(__always)
    func wait<Result: Sendable>(
        until date: Int64,
        for body: (inout Value) -> Result?
    ) -> Result? {
        if let result = withLock({ body(&$0) }) { return result }
        return date > monotonicNow() ? sleep(until: date, for: body) : nil
    }

    @inline(never)
    private func sleep<Result: Sendable>(
        until date: Int64,
        for body: (inout Value) -> Result?
    ) -> Result? {
        // Counted before the next check, so that a thread that makes a change after the check sees
        // the waiter.
        waiters.add(1, ordering: .acquiringAndReleasing)
        defer { waiters.subtract(1, ordering: .relaxed) }
        while true {
            // Read before the check, so that a wake-up after the check ends the sleep.
            let known = wakeUps.load(ordering: .acquiring)
            let left = date - monotonicNow()
            if let result = withLock({ body(&$0) }) { return result }
            guard left > 0 else { return nil }
            unsafe withUnsafePointer(to: wakeUps) { word in
                _ = unsafe cuv_futex_wait(word, known, left)
            }
        }
    }

    /// Wakes every waiting thread to check again.
    func wakeAll() {
        // A thread that counts itself after this sees every change made before.
        guard waiters.add(0, ordering: .acquiringAndReleasing).oldValue > 0 else { return }
        wakeUps.add(1, ordering: .releasing)
        unsafe withUnsafePointer(to: wakeUps) { word in unsafe cuv_futex_wake(word, .max) }
    }
}
