import CUV
internal import CUVSupport

/// Asks the kernel what is ready without going through libuv, in its own epoll set.
///
/// libuv would read the clock twice and look after its timers and handles: a look that does not
/// wait costs a half less beside it. What is ready there for libuv itself stays ready, for the next
/// sleep. And while as much is ready as libuv asks for at a time, it asks again and again, up to 48
/// times in one look, and is told the same.
enum DirectPoll {
    /// As many as lie on the stack.
    private static let few = 64
    private static let many = 1_024

    /// Names what is ready, without waiting, in the words of libuv; at most ``many``, and some of
    /// them twice.
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
        // Whatever of it is the case, the kernel is asked once more.
        let endings = cuv_poll_error | cuv_poll_hang_up | cuv_poll_peer_hang_up
        if mask & CInt(endings) != 0 { events |= UV_DISCONNECT.rawValue }
        return CInt(bitPattern: events)
    }
}
