import Synchronization

/// What other threads want the loop's own thread to let go of.
final class Discarded: Sendable {
    private struct State {
        var values: [any Sendable] = []
        var isClosed = false
    }

    private let state = Guarded(State())
    /// For a look without the lock, once per pass.
    private let isEmpty = Atomic<Bool>(true)

    func add(_ value: any Sendable) {
        state.withLock { state in
            // Once the loop has ended nobody but the caller is left to let go of it.
            guard !state.isClosed else { return }
            state.values.append(value)
            isEmpty.store(false, ordering: .relaxed)
        }
    }

    func letGo() {
        guard !isEmpty.load(ordering: .relaxed) else { return }
        let last = state.withLock { state in
            isEmpty.store(true, ordering: .relaxed)
            return exchange(&state.values, with: [])
        }
        withExtendedLifetime(last) {}
    }

    func close() {
        state.withLock { $0.isClosed = true }
        letGo()
    }
}

extension UVRunLoop {
    /// Has the loop's own thread let go of a value, in its next pass or when it ends.
    func discard(_ value: any Sendable) { discarded.add(value) }

    /// Whether the loop's own thread, and not this one, is to let go of what an item called: what a
    /// handler that is not `Sendable` captured is not touched on another thread.
    ///
    /// - Parameter home: The thread that the handler belongs to; `nil` for none.
    /// - Returns: Whether that is this loop's, and another one than the calling thread.
    func hasToLetGo(of home: ThreadIdentity?) -> Bool { home == thread && !isOnOwnThread }
}
