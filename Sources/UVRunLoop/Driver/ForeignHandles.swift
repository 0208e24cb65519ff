import CUV
internal import CUVSupport

/// What a driver knows of other people's handles in its libuv loop.
@safe
struct ForeignHandles {
    /// The loop was lent once: there may be handles in it that are not the driver's.
    var mayBeThere = false
    /// When libuv's next timer is due, in its own milliseconds.
    private var timerDate: UInt64 = 0

    /// Whether libuv has something to do in the loop, for whomever.
    ///
    /// To take notice of a handle that was just started is something, too.
    mutating func haveWork(_ loop: UnsafeMutablePointer<uv_loop_t>) -> Bool {
        unsafe uv_update_time(loop)
        let delay = unsafe uv_backend_timeout(loop)
        timerDate = unsafe delay < 0 ? .max : uv_now(loop) + UInt64(delay)
        return unsafe delay == 0 || cuv_has_ready_descriptor(loop) != 0
    }

    /// Whether a timer may have fired since then.
    ///
    /// libuv up to 1.44 fires timers before it polls, and then polls as if it had not.
    func timerMayHaveFired(_ loop: UnsafeMutablePointer<uv_loop_t>) -> Bool {
        unsafe mayBeThere && uv_now(loop) >= timerDate
    }

    // MARK: The end

    /// How long requests that are under way, which nobody can take back, are waited for.
    private static let timeForRequests: Int64 = 1_000_000_000
    private static let millisecondsOfWait: CInt = 10

    /// Closes every handle in the loop, and the loop.
    ///
    /// - Returns: Whether it is closed. With requests under way it stays as it is, for good: what
    ///   works at them uses it.
    func close(_ loop: UnsafeMutablePointer<uv_loop_t>) -> Bool {
        let end = monotonicNow() + Self.timeForRequests
        var passes = 0
        while unsafe uv_loop_close(loop) == UV_EBUSY.rawValue {
            unsafe uv_walk(
                loop,
                { handle, _ in
                    guard let handle = unsafe handle, unsafe uv_is_closing(handle) == 0 else {
                        return
                    }
                    unsafe uv_close(handle, nil)
                },
                nil
            )
            _ = unsafe uv_run(loop, UV_RUN_NOWAIT)
            passes += 1
            guard monotonicNow() < end else { return false }
            // The first passes are for the closing of handles, which waits for nothing.
            if passes > 2 { unsafe cuv_await_work(loop, Self.millisecondsOfWait) }
        }
        return true
    }
}
