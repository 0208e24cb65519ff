import Synchronization

/// Which loop a timer is in, and so whose lock guards what changes about it.
///
/// A timer in a loop is guarded by the lock of that loop, so that adding, firing and cancelling it
/// take one lock and not two. One in no loop is changed by whoever puts a mark here, under a lock
/// that all such timers share. A timer comes into a loop and leaves it under the loop's lock;
/// whoever has taken a lock looks here once more before relying on it.
struct Residence: ~Copyable, Sendable {
    private let word = Atomic<UInt64>(LoopNumber.none.value)

    private static let changing: UInt64 = 1
    private static let nowhere = Guarded<Void>(())

    /// The number of the loop it is in, at this moment.
    var loop: LoopNumber {
        let value = word.load(ordering: .acquiring)
        return value == Self.changing ? .none : LoopNumber(value: value)
    }

    enum Claim {
        case new, already, elsewhere
    }

    /// Takes a timer that is in no loop into one whose lock the caller holds.
    func claim(for loop: LoopNumber) -> Claim {
        while true {
            let (isNew, found) = word.compareExchange(
                expected: LoopNumber.none.value,
                desired: loop.value,
                ordering: .acquiringAndReleasing
            )
            if isNew { return .new }
            if found == loop.value { return .already }
            if found != Self.changing { return .elsewhere }
            // Whoever has marked it holds the lock, and takes no other.
            Self.nowhere.withLock { _ in }
        }
    }

    /// Takes the timer out of its loop, whose lock the caller holds.
    func leave() { word.store(LoopNumber.none.value, ordering: .releasing) }

    /// Does something about a timer that is in no loop; `nil` when it is in one.
    ///
    /// The body calls nobody.
    func whileNowhere<Result: Sendable>(_ body: () -> Result) -> Result? {
        Self.nowhere.withLock { _ in
            let (isMarked, _) = word.compareExchange(
                expected: LoopNumber.none.value,
                desired: Self.changing,
                ordering: .acquiringAndReleasing
            )
            guard isMarked else { return nil }
            defer { leave() }
            return body()
        }
    }
}

/// Tells one loop from every other of this process and of those that were forked from it.
struct LoopNumber: Equatable, Sendable {
    fileprivate(set) var value: UInt64

    static let none = LoopNumber(value: 0)

    private static let generationShift: UInt64 = 48
    private static let count = Atomic<UInt64>(1)

    static func next() -> LoopNumber {
        let number = count.add(1, ordering: .relaxed).newValue
        return LoopNumber(value: number | ThreadIdentity.generation << generationShift)
    }

    /// Whether its loop was made in this process, and not in one that this was forked from.
    var isOfThisProcess: Bool { value >> Self.generationShift == ThreadIdentity.generation }
}

/// The loops of the process by their numbers, for threads that know nothing else of them.
enum LoopRegistry {
    private static let loops = Guarded<[UInt64: UVRunLoop]>([:])

    static func insert(_ loop: UVRunLoop) { loops.withLock { $0[loop.number.value] = loop } }

    /// Forgets a loop that holds nothing any more.
    static func remove(_ loop: UVRunLoop) {
        let removed = loops.withLock { $0.removeValue(forKey: loop.number.value) }
        withExtendedLifetime(removed) {}
    }

    /// The loop, unless its thread has ended.
    static func loop(_ number: LoopNumber) -> UVRunLoop? {
        UVRunLoop.checkProcess(of: number)
        return loops.withLock { $0[number.value] }
    }
}
