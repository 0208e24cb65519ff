import Synchronization

/// A number that several threads count up.
package final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    private let isClaimed = Atomic<Bool>(false)

    package init() {}

    package var value: Int { count.load(ordering: .acquiring) }

    /// Answers the new value.
    @discardableResult
    package func add() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }

    package func drop() -> Int { count.subtract(1, ordering: .acquiringAndReleasing).newValue }

    /// Answers `true` once.
    package func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiringAndReleasing) }
}
