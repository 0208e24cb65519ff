internal import CUVSupport

/// One source's view of a signal: a descriptor that is ready when the signal has arrived, and the
/// number of arrivals already delivered.
final class SignalListener: Sendable {
    private struct State: ~Copyable {
        /// `nil` once the signal was given back.
        var epoll: Descriptor?
        /// The count that the source has seen.
        var known: UInt64
    }

    let watch: SignalWatch
    /// An epoll set of the signal's descriptors, which all its sources share.
    let descriptor: CInt
    private let state: Guarded<State>

    init(_ signal: CInt) throws(UVError) {
        watch = try SignalWatch.take(signal)
        do {
            let epoll = try Descriptor.watchedEpollSet()
            try accepted(cuv_epoll_add_edges(epoll.number, watch.arrivals))
            // Earlier arrivals are not for this source.
            _ = cuv_epoll_acknowledge(epoll.number, watch.pending)
            let known = watch.count
            try accepted(cuv_epoll_add(epoll.number, watch.pending, UInt32(cuv_poll_in)))
            descriptor = epoll.number
            state = Guarded(State(epoll: epoll, known: known))
        } catch {
            watch.giveBack()
            throw error
        }
    }

    /// Returns the number of arrivals since the last call.
    func take() -> Int {
        state.withLock { state in
            guard state.epoll != nil else { return 0 }
            // In this order, so that an arrival after the count was read makes the epoll set ready
            // again.
            let hasPending = cuv_epoll_acknowledge(descriptor, watch.pending) != 0
            if hasPending, !watch.takePending() {
                // Left to its new owner, or the pending signal would make the set ready for ever.
                _ = cuv_epoll_delete(descriptor, watch.pending)
            }
            let count = watch.count
            defer { state.known = count }
            return Int(clamping: count &- state.known)
        }
    }

    /// The number of arrivals since the last call of ``take()``, also after ``end()``; without
    /// pending ones.
    var undeliveredCount: Int { state.withLock { Int(clamping: watch.count &- $0.known) } }

    /// The place of the signal's latest arrival among those of all signals.
    var latestArrival: UInt64 { watch.latestArrival }

    /// Sends a signal to this process.
    static func raise(_ signal: CInt) { kill(getpid(), signal) }

    /// Gives the signal back, once.
    func end() {
        let isFirst = state.withLock { state in
            state.epoll.take() != nil
        }
        if isFirst { watch.giveBack() }
    }

    deinit { end() }
}
