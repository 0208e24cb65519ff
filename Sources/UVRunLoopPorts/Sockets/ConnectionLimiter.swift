import UVRunLoop

/// Limits how many connections of a listener are open.
final class ConnectionLimiter: Sendable {
    private struct State {
        var count = 0
        /// The listener is announced when a connection closes.
        var isListenerWaiting = false
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

    /// Counts one more connection, if the limit permits; if not, the listener is announced when the
    /// next one closes.
    func acquire() -> ConnectionPermit? {
        let hasRoom = state.withLock { state in
            state.isListenerWaiting = state.count >= limit
            if !state.isListenerWaiting { state.count += 1 }
            return !state.isListenerWaiting
        }
        return hasRoom ? ConnectionPermit(limiter: self) : nil
    }

    /// Announces the listener when the next connection closes.
    func announceNextRelease() { state.withLock { $0.isListenerWaiting = true } }

    fileprivate func release() {
        let listener = state.withLock { state in
            state.count -= 1
            return exchange(&state.isListenerWaiting, with: false) ? state.listener : nil
        }
        listener?.announce()
    }
}

/// Counts as one open connection until it is destroyed.
struct ConnectionPermit: ~Copyable, Sendable {
    fileprivate let limiter: ConnectionLimiter

    deinit { limiter.release() }
}
