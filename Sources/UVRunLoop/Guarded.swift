import Synchronization

/// A value behind a lock.
///
/// It is a `Mutex` whose order the thread sanitizer can see. When a `Mutex` has to wait, the
/// kernel hands the lock over, and the sanitizer takes the two owners for strangers. A store
/// before the lock is let go and a load after it was taken, which are plain moves on most
/// machines, tell it what the kernel knows.
package struct Guarded<Value: ~Copyable>: ~Copyable {
    private let mutex: Mutex<Value>
    private let witness = Atomic<UInt8>(0)

    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Lends the value while no other thread has it; the body calls nobody.
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = witness.load(ordering: .acquiring)
            defer { witness.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension Guarded: Sendable where Value: ~Copyable {}
