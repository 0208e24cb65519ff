import CUV

/// The libuv loop of a run loop that has ended, and its requests in progress.
///
/// libuv's worker threads use the loop until they have finished the requests that have begun. The
/// thread that ends does not wait for them: another thread does, and then closes the loop.
struct LoopRemains {
    private let host: HandleHost
    /// How many passes to make before a request counts as in progress; two suffice for the rest.
    private static let passes = 4

    init(_ host: HandleHost) { self.host = host }

    /// Closes the loop, here or, if a request is still in progress, on a thread that awaits it.
    func close() {
        // Each pass calls close callbacks, and those of cancelled requests.
        for _ in 0..<Self.passes {
            guard unsafe uv_loop_close(host.uvLoop) != 0 else { return free() }
            _ = unsafe uv_run(host.uvLoop, UV_RUN_NOWAIT)
        }
        let remains = Transferred(self)
        PosixThread.startDetached("loop-end", { remains.value.finish() })
    }

    private func finish() {
        while unsafe uv_loop_close(host.uvLoop) != 0 {
            _ = unsafe uv_run(host.uvLoop, UV_RUN_ONCE)
        }
        free()
    }

    private func free() { unsafe host.uvLoop.deallocate() }
}
