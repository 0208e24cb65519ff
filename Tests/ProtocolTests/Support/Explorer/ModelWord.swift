@testable import UVRunLoop

/// A word of the explorer's, on which the shipped protocols run in place of the machine's.
///
/// It holds nothing: each access is asked of the ``Recital`` that replays the thread.
struct ModelWord: ~Copyable, AtomicWord {
    private let location: Int
    private let recital: Recital

    init(_ value: UInt64) {
        guard let recital = Recital.underConstruction else {
            preconditionFailure("A word of a model is made within Recital.constructing(_:).")
        }
        self.recital = recital
        location = recital.addLocation(value)
    }

    func loadRelaxed() -> UInt64 { access(.load, order: .relaxed) }
    func loadAcquiring() -> UInt64 { access(.load, order: .acquireRelease) }
    func loadSequential() -> UInt64 { access(.load, order: .sequential) }

    func storeReleasing(_ value: UInt64) { _ = access(.store, value, order: .acquireRelease) }
    func storeSequential(_ value: UInt64) { _ = access(.store, value, order: .sequential) }

    func exchange(_ value: UInt64) -> UInt64 {
        guard !has(.splitExchange) else {
            let old = loadAcquiring()
            storeReleasing(value)
            return old
        }
        return access(.exchange, value, order: .acquireRelease)
    }

    func compareExchange(_ expected: UInt64, _ desired: UInt64) -> UInt64 {
        if has(.uncheckedCompareExchange) {
            storeReleasing(desired)
            return expected
        }
        guard !has(.splitCompareExchange) else {
            let old = loadAcquiring()
            if old == expected { storeReleasing(desired) }
            return old
        }
        return access(.compareExchange, expected, desired, order: .acquireRelease)
    }

    func bitwiseOr(_ bits: UInt64) -> UInt64 {
        if has(.ignoredOr(UInt8(bits))) { return loadAcquiring() }
        guard !has(.splitOr) else {
            let old = loadAcquiring()
            storeReleasing(old | bits)
            return old
        }
        return access(.or, bits, order: .acquireRelease)
    }

    func bitwiseAnd(_ bits: UInt64) -> UInt64 {
        if has(.ignoredAnd(UInt8(truncatingIfNeeded: ~bits))) { return loadAcquiring() }
        guard !has(.splitAnd) else {
            let old = loadAcquiring()
            storeReleasing(old & bits)
            return old
        }
        return access(.and, bits, order: .acquireRelease)
    }

    func bitwiseAndSequential(_ bits: UInt64) {
        if has(.ignoredAnd(UInt8(truncatingIfNeeded: ~bits))) { return }
        guard !has(.splitAnd) else {
            storeSequential(loadSequential() & bits)
            return
        }
        _ = access(.and, bits, order: .sequential)
    }

    func addSequential(_ value: UInt64) -> UInt64 {
        guard !has(.splitAdd) else {
            let old = loadSequential()
            storeSequential(old &+ value)
            return old
        }
        return access(.add, value, order: .sequential)
    }

    /// For what the machine keeps in plain memory.
    func storeRelaxed(_ value: UInt64) { _ = access(.store, value, order: .relaxed) }

    func maxReleasing(_ value: UInt64) { _ = access(.max, value, order: .release) }

    private func has(_ change: Fault.Change) -> Bool {
        recital.fault.map { $0.location == location && $0.change == change } ?? false
    }

    private func access(
        _ kind: Step.Kind,
        _ operand: UInt64 = 0,
        _ second: UInt64 = 0,
        order: Step.Order
    ) -> UInt64 {
        recital.access(
            Step(
                kind: kind,
                place: location,
                order: weakened(order, kind),
                operand: UInt8(truncatingIfNeeded: operand),
                second: UInt8(truncatingIfNeeded: second)
            )
        )
    }

    private func weakened(_ order: Step.Order, _ kind: Step.Kind) -> Step.Order {
        if has(.relaxed(kind)) { return .relaxed }
        if has(.notSequential), order == .sequential { return .acquireRelease }
        return order
    }
}

/// A small change of one word's operations, by which the explorer shows that it would notice it.
struct Fault: Equatable, Sendable {
    enum Change: Equatable, Sendable {
        /// An exchange is a load and a store.
        case splitExchange
        /// A compare-exchange is a load, and a store if they are equal.
        case splitCompareExchange
        /// A compare-exchange stores whatever is there.
        case uncheckedCompareExchange
        case splitOr
        /// An addition is a load and a store.
        case splitAdd
        case splitAnd
        /// The bits are not set.
        case ignoredOr(UInt8)
        /// The bits are not taken away.
        case ignoredAnd(UInt8)
        /// Operations of the kind order nothing.
        case relaxed(Step.Kind)
        /// Sequentially consistent operations are acquiring and releasing ones.
        case notSequential
    }

    let location: Int
    let change: Change
}
