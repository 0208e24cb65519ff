import Synchronization

/// An object of which each process has its own.
///
/// A forked child does not use its parent's object: another thread may have been changing it, or
/// have held its lock, during the fork. The child creates a new one on first use, and never
/// releases the parent's.
@safe
package struct PerProcess<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    private final class Holder: Sendable {
        let process = OwnerProcess()
        let object: Object

        init(_ object: Object) { self.object = object }
    }

    private let pointer = unsafe Atomic<Unmanaged<Holder>?>(nil)
    private let make: @Sendable () -> Object

    package init(_ make: @escaping @Sendable () -> Object) { self.make = make }

    /// This process's object.
    ///
    /// > Threading: Any thread. Takes no lock.
    package var current: Object {
        let found = unsafe pointer.load(ordering: .acquiring)
        if let found = unsafe found {
            let holder = unsafe found._withUnsafeGuaranteedRef { $0 }
            if holder.process.isCurrent { return holder.object }
        }
        return makeCurrent()
    }

    @inline(never)
    private func makeCurrent() -> Object {
        while true {
            let found = unsafe pointer.load(ordering: .acquiring)
            let holder = unsafe found?.takeUnretainedValue()
            if let holder, holder.process.isCurrent { return holder.object }
            let made = unsafe Unmanaged.passRetained(Holder(make()))
            let (isStored, _) = unsafe pointer.compareExchange(
                expected: found,
                desired: made,
                ordering: .acquiringAndReleasing
            )
            if !isStored { unsafe made.release() }
        }
    }
}

/// A guarded value of which each process has its own.
package struct GuardedPerProcess<Value>: ~Copyable, Sendable {
    private final class Holder: Sendable {
        let value: Guarded<Value>

        init(_ value: sending Value) { self.value = Guarded(value) }
    }

    private let holder: PerProcess<Holder>

    package init(_ make: @escaping @Sendable () -> sending Value) {
        holder = PerProcess { Holder(make()) }
    }

    /// Lends the value while no other thread has it; the body must not call user code.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try holder.current.value.withLock(body)
    }
}
