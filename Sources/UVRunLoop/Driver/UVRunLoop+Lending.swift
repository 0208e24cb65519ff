import CUV

extension UVRunLoop {
    /// Lends libuv's loop, so that handles of other code live on this loop's thread.
    ///
    /// The pointer is good until the thread ends; libuv's functions may be called with it on this
    /// thread, in the body, in handlers of the loop's and in libuv's callbacks. Put handles into
    /// it, start, stop and close them. Do not run it, close it or give it other data: the run loop
    /// does.
    ///
    /// libuv calls the handles' callbacks while the loop looks what is ready or sleeps, in
    /// whatever mode it runs, and in no mode in particular: they keep no mode from being empty.
    /// They may call whatever this loop has for any thread; to run it from one of them traps. When
    /// libuv had something for them, the loop's sleep ends as by ``wakeUp()``.
    ///
    /// Handles that are open when the thread ends are closed, without a callback.
    ///
    /// See <doc:ForeignHandles>.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameter body: Is given libuv's loop.
    /// - Returns: What the body returned.
    /// - Throws: What the body threw.
    @available(*, noasync, message: "The loop belongs to one thread.")
    public func withUVLoop<Result, Failure: Error>(
        _ body: (UnsafeMutablePointer<uv_loop_t>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        checkThread()
        let driver = local.withValue(\.driver)
        guard let driver, let uvLoop = unsafe driver.lend() else {
            fail("There is no libuv loop: this run loop has ended, or it runs in virtual time.")
        }
        defer { driver.takeBack() }
        return try unsafe body(uvLoop)
    }
}
