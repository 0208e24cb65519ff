/// A value behind a ``Lock``.
///
/// Inlinable, because it is generic: code of another module would otherwise look up its types by
/// name at each use, which takes longer than the lock.
///
/// Unchecked: the compiler does not know the lock, and the value is only reachable under it.
@safe
@usableFromInline
package struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let lock = Lock()
    @usableFromInline let value: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: consuming sending Value) {
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
    }

    /// Lends the value while no other thread has it; the body must not call user code.
    @inlinable
    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.acquire()
        defer { lock.release() }
        return try unsafe body(&value.pointee)
    }

    @inlinable
    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }
}
