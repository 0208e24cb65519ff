import Synchronization

/// An atomic number with the operations that the loop's protocols use.
///
/// The protocols are generic over it, so that a test can run the same code on words of its own and
/// schedule other threads between two accesses.
package protocol AtomicWord: ~Copyable, Sendable {
    init(_ value: UInt64)

    func loadRelaxed() -> UInt64
    func loadAcquiring() -> UInt64
    func loadSequential() -> UInt64
    func storeReleasing(_ value: UInt64)
    func storeSequential(_ value: UInt64)

    // Operations that return the former value have acquire and release semantics.
    func exchange(_ value: UInt64) -> UInt64
    func compareExchange(_ expected: UInt64, _ desired: UInt64) -> UInt64
    func bitwiseOr(_ bits: UInt64) -> UInt64
    func bitwiseAnd(_ bits: UInt64) -> UInt64

    /// Adds with wrap-around, sequentially consistent; returns the former value.
    func addSequential(_ value: UInt64) -> UInt64

    func bitwiseAndSequential(_ bits: UInt64)

    /// Stores a value that is less than 2^63, unless it is less than the present one.
    ///
    /// The maximum of an `Atomic<UInt64>` of Swift 6.3 compares signed numbers.
    func maxReleasing(_ value: UInt64)
}

/// A word of the machine.
package struct SystemWord: ~Copyable, AtomicWord {
    private let atomic: Atomic<UInt64>

    @inline(__always)
    package init(_ value: UInt64) { atomic = Atomic(value) }

    /// An atomic value is never moved.
    var address: WordAddress {
        let pointer = unsafe withUnsafePointer(to: self) {
            unsafe UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: UInt64.self)
        }
        return unsafe WordAddress(pointer: pointer)
    }

    @inline(__always)
    package func loadRelaxed() -> UInt64 { atomic.load(ordering: .relaxed) }

    @inline(__always)
    package func loadAcquiring() -> UInt64 { atomic.load(ordering: .acquiring) }

    @inline(__always)
    package func loadSequential() -> UInt64 { atomic.load(ordering: .sequentiallyConsistent) }

    @inline(__always)
    package func storeReleasing(_ value: UInt64) { atomic.store(value, ordering: .releasing) }

    @inline(__always)
    package func storeSequential(_ value: UInt64) {
        atomic.store(value, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    package func exchange(_ value: UInt64) -> UInt64 {
        atomic.exchange(value, ordering: .acquiringAndReleasing)
    }

    @inline(__always)
    package func compareExchange(_ expected: UInt64, _ desired: UInt64) -> UInt64 {
        atomic.compareExchange(
            expected: expected,
            desired: desired,
            ordering: .acquiringAndReleasing
        ).original
    }

    @inline(__always)
    package func bitwiseOr(_ bits: UInt64) -> UInt64 {
        atomic.bitwiseOr(bits, ordering: .acquiringAndReleasing).oldValue
    }

    @inline(__always)
    package func bitwiseAnd(_ bits: UInt64) -> UInt64 {
        atomic.bitwiseAnd(bits, ordering: .acquiringAndReleasing).oldValue
    }

    @inline(__always)
    package func addSequential(_ value: UInt64) -> UInt64 {
        atomic.wrappingAdd(value, ordering: .sequentiallyConsistent).oldValue
    }

    @inline(__always)
    package func bitwiseAndSequential(_ bits: UInt64) {
        atomic.bitwiseAnd(bits, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    package func maxReleasing(_ value: UInt64) { atomic.max(value, ordering: .releasing) }
}

/// Where a word is, for C.
@safe
struct WordAddress {
    let pointer: UnsafeMutablePointer<UInt64>
}
