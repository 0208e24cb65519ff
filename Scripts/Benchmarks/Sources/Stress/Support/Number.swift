import Synchronization

/// A number that several threads may count up and read.
final class Number: Sendable {
    private let number: Atomic<Int>

    init(_ number: Int = 0) { self.number = Atomic(number) }

    var value: Int { number.load(ordering: .acquiring) }

    /// Answers the new value.
    @discardableResult
    func add(_ count: Int = 1) -> Int {
        number.add(count, ordering: .acquiringAndReleasing).newValue
    }

    /// Sets another value if it is still the one that is expected; answers whether it was.
    func change(from expected: Int, to new: Int) -> Bool {
        number.compareExchange(
            expected: expected,
            desired: new,
            ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Sets a value if it is greater; answers by how much.
    func rise(to new: Int) -> Int {
        let old = number.max(new, ordering: .acquiringAndReleasing).oldValue
        return max(0, new - old)
    }
}
