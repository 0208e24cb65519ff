import CUV
internal import CUVSupport

/// Polls libuv's epoll set without going through libuv.
///
/// A poll by libuv that does not wait costs twice as much: libuv reads the clock twice and handles
/// its timers and handles. Descriptors that are ready for libuv itself stay ready, for the next
/// sleep. While as many descriptors are ready as libuv requests in one call, it repeats the call up
/// to 48 times in one poll, with the same result.
enum DirectPoll {
    /// The number of events that fit on the stack.
    private static let few = 64
    private static let many = 1_024

    /// Polls without waiting, and reports the ready descriptors with libuv's event bits.
    ///
    /// Reports at most ``few`` and ``many`` events together; a descriptor may be reported twice.
    static func poll(epoll: CInt, _ body: (_ descriptor: CInt, _ events: CInt) -> Void) {
        if ask(for: few, epoll, body) == few { _ = ask(for: many, epoll, body) }
    }

    private static func ask(
        for capacity: Int,
        _ epoll: CInt,
        _ body: (_ descriptor: CInt, _ events: CInt) -> Void
    ) -> Int {
        unsafe withUnsafeTemporaryAllocation(of: cuv_ready.self, capacity: capacity) { buffer in
            guard let found = buffer.baseAddress else { return 0 }
            let count = unsafe Int(cuv_epoll_ready(epoll, found, CInt(capacity)))
            for index in 0..<max(0, count) {
                unsafe body(found[index].descriptor, events(of: found[index].events))
            }
            return count
        }
    }

    private static func events(of mask: UInt32) -> CInt {
        let mask = CInt(bitPattern: mask)
        var events: UInt32 = 0
        if mask & CInt(cuv_poll_in) != 0 { events |= UV_READABLE.rawValue }
        if mask & CInt(cuv_poll_out) != 0 { events |= UV_WRITABLE.rawValue }
        // The exact condition is queried later.
        let endings = cuv_poll_error | cuv_poll_hang_up | cuv_poll_peer_hang_up
        if mask & CInt(endings) != 0 { events |= UV_DISCONNECT.rawValue }
        return CInt(bitPattern: events)
    }
}
