import CUV

extension UVRunLoop {
    /// Lends libuv's loop to other code, whose handles then run on this loop's thread.
    ///
    /// The pointer is valid until the thread ends. Call libuv's functions with it on this thread:
    /// in the body, in the loop's handlers and in libuv's callbacks. You may start, stop and close
    /// handles in it. Do not run it, close it or set its data.
    ///
    /// libuv calls the handles' callbacks while the loop polls or sleeps, in whatever mode it runs;
    /// the handles do not keep a mode from being empty. A callback may call every function of this
    /// loop that is for any thread, and traps if it runs the loop. If libuv had work for the
    /// handles, the loop's sleep ends as by ``wakeUp()``.
    ///
    /// Handles that are open when the thread ends are closed, without a callback.
    ///
    /// See <doc:ForeignHandles>.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameter body: Receives libuv's loop.
    /// - Returns: The body's result.
    /// - Throws: The body's error.
    @available(*, noasync, message: "The loop has one thread. Lend it in a block of perform(_:).")
    public func withUVLoop<Result, Failure: Error>(
        _ body: (UnsafeMutablePointer<uv_loop_t>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        willLend()
        guard let uvLoop = unsafe withDriver({ unsafe $0.lend() }) ?? nil else {
            fail("There is no libuv loop: this run loop has ended, or it runs in virtual time.")
        }
        return try unsafe body(uvLoop)
    }
}
