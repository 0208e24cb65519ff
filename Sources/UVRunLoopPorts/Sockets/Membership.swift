import UVRunLoop

/// Counts the connections that a listener has accepted and that are still open.
final class Tally: Sendable {
    private struct State {
        var count = 0
        /// The listener waits for a connection to close.
        var isAwaited = false
        weak var listener: UVRunLoop.PortLink?
    }

    private let limit: Int
    private let state = Guarded(State())

    init(limit: Int?) {
        self.limit = limit ?? .max
    }

    var count: Int { state.withLock(\.count) }

    func setListener(_ link: UVRunLoop.PortLink) {
        state.withLock { $0.listener = link }
    }

    /// Counts one more, if there is room; if not, the listener is announced when there is.
    func join() -> Membership? {
        let hasRoom = state.withLock { state in
            state.isAwaited = state.count >= limit
            if !state.isAwaited { state.count += 1 }
            return !state.isAwaited
        }
        return hasRoom ? Membership(tally: self) : nil
    }

    /// Has the listener announced when the next connection closes.
    func awaitRoom() { state.withLock { $0.isAwaited = true } }

    fileprivate func leave() {
        let listener = state.withLock { state in
            state.count -= 1
            return exchange(&state.isAwaited, with: false) ? state.listener : nil
        }
        listener?.announce()
    }
}

/// One connection of a listener's, for as long as it is open.
struct Membership: ~Copyable, Sendable {
    fileprivate let tally: Tally

    deinit { tally.leave() }
}
