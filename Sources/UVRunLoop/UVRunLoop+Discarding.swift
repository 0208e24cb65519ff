import Synchronization

/// What other threads want the loop's own thread to let go of.
final class Discarded: Sendable {
    private let values = Guarded<[any Sendable]>([])
    private let isEmpty = Atomic<Bool>(true)
    private let isClosed = Atomic<Bool>(false)

    func add(_ value: any Sendable) {
        values.withLock { values in
            // Once the loop has ended nobody but the caller is left to let go of it.
            guard !isClosed.load(ordering: .relaxed) else { return }
            values.append(value)
            isEmpty.store(false, ordering: .relaxed)
        }
    }

    func letGo() {
        guard !isEmpty.load(ordering: .relaxed) else { return }
        let last = values.withLock { values in
            isEmpty.store(true, ordering: .relaxed)
            return exchange(&values, with: [])
        }
        withExtendedLifetime(last) {}
    }

    func close() {
        values.withLock { _ in isClosed.store(true, ordering: .relaxed) }
        letGo()
    }
}

extension UVRunLoop {
    /// Has the loop's own thread let go of a value, in its next pass or when it ends.
    func discard(_ value: any Sendable) { discarded.add(value) }
}
