import CUV
internal import CUVSupport

/// Handles of other code in a driver's libuv loop.
@safe
struct ForeignHandles {
    /// Whether the loop was lent at least once, and so may contain foreign handles.
    var mayBeThere = false
    /// When libuv's next timer is due, in milliseconds of its clock.
    private var timerDate: UInt64 = 0

    /// Returns whether libuv has work in the loop, for its own handles or foreign ones.
    ///
    /// Registering a handle that was just started is work, too.
    mutating func haveWork(_ loop: UnsafeMutablePointer<uv_loop_t>) -> Bool {
        unsafe uv_update_time(loop)
        let delay = unsafe uv_backend_timeout(loop)
        timerDate = unsafe delay < 0 ? .max : uv_now(loop) + UInt64(delay)
        return unsafe delay == 0 || cuv_has_ready_descriptor(loop) != 0
    }

    /// Whether a timer may have fired since the last call of ``haveWork(_:)``.
    ///
    /// libuv up to 1.44 fires timers before it polls, and then blocks regardless.
    func timerMayHaveFired(_ loop: UnsafeMutablePointer<uv_loop_t>) -> Bool {
        unsafe mayBeThere && uv_now(loop) >= timerDate
    }

    // MARK: The end

    /// How long to wait for running requests, which cannot be cancelled.
    private static let timeForRequests: Int64 = 1_000_000_000
    private static let millisecondsOfWait: CInt = 10

    /// Closes every handle in the loop, and the loop, and frees it.
    ///
    /// If requests are still running it is never freed, nor are their objects, which the host
    /// keeps: they use them, and nobody is notified when they end.
    func close(_ loop: UnsafeMutablePointer<uv_loop_t>, keeping host: HandleHost?) {
        if unsafe closes(loop) { return unsafe loop.deallocate() }
        if let host { _ = unsafe Unmanaged.passRetained(host) }
    }

    /// Closes every handle in the loop, and the loop; returns `false` if requests are still
    /// running.
    private func closes(_ loop: UnsafeMutablePointer<uv_loop_t>) -> Bool {
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
            // The first passes run close callbacks, which wait for nothing.
            if passes > 2 { unsafe cuv_await_work(loop, Self.millisecondsOfWait) }
        }
        return true
    }
}
