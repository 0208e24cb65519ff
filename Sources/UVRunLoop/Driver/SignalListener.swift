internal import CUVSupport
import Glibc

/// What one source knows of its signal: a descriptor that is ready when the signal has come, and
/// how much of it the source was told of.
final class SignalListener: Sendable {
    private struct State {
        /// The signal was given back.
        var isClosed = false
        /// The count of which the source knows.
        var known: UInt64
    }

    let watch: SignalWatch
    /// An epoll set with the signal's descriptors, which are the same for all its sources.
    let descriptor: CInt
    private let state: Guarded<State>

    init(_ signal: CInt) throws(UVError) {
        watch = try SignalWatch.take(signal)
        var epoll: CInt = -1
        do {
            epoll = try accepted(cuv_epoll_create())
            try accepted(cuv_epoll_add_edges(epoll, watch.arrivals))
            // What came earlier was for others.
            cuv_epoll_acknowledge(epoll)
            state = Guarded(State(known: watch.countHandled()))
            try accepted(cuv_epoll_add(epoll, watch.pending, UInt32(cuv_poll_in)))
        } catch {
            if epoll >= 0 { close(epoll) }
            watch.giveBack()
            throw error
        }
        descriptor = epoll
    }

    /// How often the signal came since this was asked last.
    func take() -> Int {
        state.withLock { state in
            guard !state.isClosed else { return 0 }
            // In this order: whatever comes after the count was read makes the set ready again.
            cuv_epoll_acknowledge(descriptor)
            let count = watch.count()
            defer { state.known = count }
            return Int(clamping: count &- state.known)
        }
    }

    /// Gives the signal back, once.
    func end() {
        let isFirst = state.withLock { state in
            guard !exchange(&state.isClosed, with: true) else { return false }
            close(descriptor)
            return true
        }
        if isFirst { watch.giveBack() }
    }

    deinit { end() }
}
