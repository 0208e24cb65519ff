import CUV
import UVRunLoop

/// A handle of libuv's that is not the loop's own, as a C library would put into it.
final class Guest<Raw> {
    let raw: UnsafeMutablePointer<Raw>
    private let action: (Guest<Raw>) -> Void

    /// Makes a handle and starts it.
    ///
    /// - Parameters:
    ///   - loop: Where to put it.
    ///   - start: Initialises the handle and starts it with a callback that calls `Guest.call`.
    ///   - action: What the callback does.
    init(
        in loop: UVRunLoop,
        start: (UnsafeMutablePointer<uv_loop_t>, UnsafeMutablePointer<Raw>) -> Void,
        action: @escaping (Guest<Raw>) -> Void
    ) {
        raw = .allocate(capacity: 1)
        self.action = action
        loop.withUVLoop { start($0, raw) }
        generic.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    var generic: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }

    func close() { uv_close(generic, nil) }

    static func call(_ raw: UnsafeMutablePointer<Raw>?) {
        guard let raw else { return }
        let generic = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
        guard let data = generic.pointee.data else { return }
        let guest = Unmanaged<Guest<Raw>>.fromOpaque(data).takeUnretainedValue()
        guest.action(guest)
    }
}

/// A timer of libuv's.
func guestTimer(
    in loop: UVRunLoop,
    after milliseconds: UInt64,
    every interval: UInt64 = 0,
    _ action: @escaping (Guest<uv_timer_t>) -> Void
) -> Guest<uv_timer_t> {
    Guest(in: loop) { uvLoop, timer in
        uv_timer_init(uvLoop, timer)
        uv_update_time(uvLoop)
        uv_timer_start(timer, { Guest.call($0) }, milliseconds, interval)
    } action: {
        action($0)
    }
}

/// A watch on a descriptor of libuv's.
func guestPoll(
    in loop: UVRunLoop,
    _ descriptor: CInt,
    _ action: @escaping (Guest<uv_poll_t>) -> Void
) -> Guest<uv_poll_t> {
    Guest(in: loop) { uvLoop, poll in
        precondition(uv_poll_init(uvLoop, poll, descriptor) == 0, "libuv watches it.")
        let readable = CInt(bitPattern: UV_READABLE.rawValue)
        uv_poll_start(poll, readable) { handle, _, _ in Guest.call(handle) }
    } action: {
        action($0)
    }
}
