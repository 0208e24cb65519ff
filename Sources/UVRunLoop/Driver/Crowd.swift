import CUV

/// Asks the kernel what is ready where that is very much.
///
/// While as much is ready as libuv asks for at a time, it asks again and again, up to 48 times in
/// one look, and is told the same. So once a look has found a crowd, the next ones are made beside
/// libuv, in its own epoll set, until the crowd is gone. What is ready there for libuv itself stays
/// ready.
enum Crowd {
    /// How many descriptors make a crowd: half of what libuv asks for at a time.
    static let size = 512
    /// The most that one look tells.
    private static let mostPerLook = 1_024

    /// Names what is ready, without waiting, in the words of libuv.
    static func look(epoll: CInt, _ body: (_ descriptor: CInt, _ events: CInt) -> Void) {
        unsafe withUnsafeTemporaryAllocation(of: cuv_ready.self, capacity: mostPerLook) { buffer in
            guard let found = buffer.baseAddress else { return }
            let count = unsafe cuv_epoll_ready(epoll, found, CInt(buffer.count))
            for index in 0..<Int(max(0, count)) {
                unsafe body(found[index].descriptor, events(of: found[index].events))
            }
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
