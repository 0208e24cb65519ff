import Synchronization

/// A value behind a lock.
///
/// It is a `Mutex` whose order the thread sanitizer can see. When a `Mutex` has to wait, the
/// kernel hands the lock over, and the sanitizer takes the two owners for strangers. A store
/// before the lock is let go and a load after it was taken, which are plain moves on most
/// machines, tell it what the kernel knows.
///
/// It is inlinable because it is generic: code of another module would else look its types up by
/// name each time, which takes longer than the lock.
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let witness = Atomic<UInt8>(0)

    @inlinable
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Lends the value while no other thread has it; the body calls nobody.
    @inlinable
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
