internal import CUVSupport

/// What one source knows of its signal: a descriptor that is ready when the signal has come, and
/// how much of it the source was told of.
final class SignalListener: Sendable {
    private struct State: ~Copyable {
        /// `nil` once the signal was given back.
        var epoll: Descriptor?
        /// The count of which the source knows.
        var known: UInt64
    }

    let watch: SignalWatch
    /// An epoll set with the signal's descriptors, which are the same for all its sources.
    let descriptor: CInt
    private let state: Guarded<State>

    init(_ signal: CInt) throws(UVError) {
        watch = try SignalWatch.take(signal)
        do {
            let epoll = try Descriptor.epollSet()
            try accepted(cuv_epoll_add_edges(epoll.number, watch.arrivals))
            // What came earlier was for others.
            cuv_epoll_acknowledge(epoll.number)
            let known = watch.countHandled()
            try accepted(cuv_epoll_add(epoll.number, watch.pending, UInt32(cuv_poll_in)))
            descriptor = epoll.number
            state = Guarded(State(epoll: epoll, known: known))
        } catch {
            watch.giveBack()
            throw error
        }
    }

    /// How often the signal came since this was asked last.
    func take() -> Int {
        state.withLock { state in
            guard state.epoll != nil else { return 0 }
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
            state.epoll.take() != nil
        }
        if isFirst { watch.giveBack() }
    }

    deinit { end() }
}
