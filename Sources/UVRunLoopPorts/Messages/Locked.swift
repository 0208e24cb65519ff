import Synchronization

/// A value behind a lock, as the core's `Guarded` is one.
///
/// It is written down once more because a generic type of another module is not specialised here:
/// every lock of a message's way would look its types up by name, which takes as long as the rest.
struct Locked<Value: ~Copyable>: ~Copyable {
    private let mutex: Mutex<Value>
    /// Shows the thread sanitizer the order that the kernel sees to when it hands a lock over.
    private let witness = Atomic<UInt8>(0)

    init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Lends the value while no other thread has it; the body calls nobody.
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = witness.load(ordering: .acquiring)
            defer { witness.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}

extension Locked: Sendable where Value: ~Copyable {}
