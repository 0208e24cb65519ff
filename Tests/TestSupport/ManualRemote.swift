import UVRunLoop

/// The virtual clock, and what other threads will do when it gets there.
package final class ManualRemote: LoopRemote {
    package struct Event {
        package let date: Int64
        let number: Int
        package let action: @Sendable () -> Void
    }

    package init() {}

    private struct State {
        var now: Int64 = 1_000_000_000
        var events: [Event] = []
        var count = 0
        var wasKicked = false
        var released: Set<CInt> = []
        var taken: Set<CInt> = []
    }

    private let state = Guarded(State())

    package var now: Int64 { state.withLock(\.now) }

    package func wake() { state.withLock { $0.wasKicked = true } }

    package func takeKick() -> Bool {
        state.withLock { state in
            defer { state.wasKicked = false }
            return state.wasKicked
        }
    }

    func take(_ descriptor: CInt) {
        if state.withLock({ $0.taken.insert(descriptor).inserted }) {
            try? BlockingFlags.take(descriptor)
        }
    }

    package func release(_ descriptor: CInt, unless isWanted: () -> Bool) {
        guard !isWanted() else { return }
        let wasTaken = state.withLock { state in
            state.released.insert(descriptor)
            return state.taken.remove(descriptor) != nil
        }
        if wasTaken { BlockingFlags.giveBack(descriptor) }
    }

    func releaseAll() {
        for descriptor in state.withLock(\.taken) { release(descriptor) { false } }
    }

    func withReleased(_ body: (inout Set<CInt>) -> Void) {
        var released = state.withLock(\.released)
        body(&released)
        state.withLock { [released] in $0.released = released }
    }

    package func advance(to date: Int64) { state.withLock { $0.now = max($0.now, date) } }

    package func plan(after delay: Int64, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.count += 1
            state.events.append(
                Event(date: state.now + delay, number: state.count, action: action)
            )
        }
    }

    /// Forgets what was planned, and lets go of what that holds.
    package func forgetPlans() {
        let events = state.withLock { exchange(&$0.events, with: []) }
        withExtendedLifetime(events) {}
    }

    /// Takes the first event that is planned for a date or an earlier one.
    func takeEvent(until date: Int64) -> Event? {
        state.withLock { state in
            let next = state.events.indices.min {
                (state.events[$0].date, state.events[$0].number)
                    < (state.events[$1].date, state.events[$1].number)
            }
            guard let next, state.events[next].date <= date else { return nil }
            return state.events.remove(at: next)
        }
    }
}
