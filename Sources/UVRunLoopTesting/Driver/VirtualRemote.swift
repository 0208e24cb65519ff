import UVRunLoop

/// The part of a virtual driver that other threads may use.
package final class VirtualRemote: LoopRemote {
    package let clock: UVRunLoop.VirtualClock
    let number: Int
    /// The descriptors whose blocking mode this loop has taken.
    ///
    /// Lock order: this one, the loop's engine, the clock. The clock's is the last because the
    /// engine reads the time under its own lock.
    private let taken = Guarded<Set<CInt>>([])

    init(_ clock: UVRunLoop.VirtualClock, number: Int) {
        self.clock = clock
        self.number = number
    }

    package var now: Int64 { clock.state.withLock(\.now) }

    package func wake() { clock.state.withLock { $0.wake(number) } }

    // MARK: Descriptors

    func watch(
        _ changes: [WatchChange],
        ifCurrent isCurrent: (WatchChange) -> Bool,
        refused: (WatchChange, UVError) -> Void
    ) {
        taken.withLock { taken in
            for change in changes where isCurrent(change) {
                guard take(change.descriptor, &taken) else {
                    refused(change, .badDescriptor)
                    continue
                }
                clock.state.withLock { _ = $0.withLoop(number) { $0.watch(change) } }
            }
        }
    }

    /// Makes a descriptor non-blocking, unless it is; returns `false` if it is closed.
    private func take(_ descriptor: CInt, _ taken: inout sending Set<CInt>) -> Bool {
        guard isOpen(descriptor) else { return false }
        if taken.insert(descriptor).inserted {
            try? BlockingFlags.take(descriptor)
        } else {
            try? BlockingFlags.renew(descriptor)
        }
        return true
    }

    func rearm(_ change: WatchChange) {
        clock.state.withLock { _ = $0.withLoop(number) { $0.rearm(change) } }
    }

    package func release(_ descriptor: CInt, unless isWanted: () -> Bool) {
        taken.withLock { taken in
            guard !isWanted() else { return }
            clock.state.withLock { _ = $0.withLoop(number) { $0.unwatch(descriptor) } }
            if taken.remove(descriptor) != nil { BlockingFlags.giveBack(descriptor) }
        }
    }

    package func makeNonblocking(_ descriptor: CInt, if isWanted: () -> Bool) {
        taken.withLock { taken in
            if isWanted() { _ = take(descriptor, &taken) }
        }
    }

    package func releaseAll() {
        taken.withLock { taken in
            for descriptor in taken {
                clock.state.withLock { _ = $0.withLoop(number) { $0.unwatch(descriptor) } }
                BlockingFlags.giveBack(descriptor)
            }
            taken = []
        }
    }

    /// Takes the loop from the clock.
    func close() {
        releaseAll()
        clock.state.withLock { $0.removeLoop(number) }
    }
}
