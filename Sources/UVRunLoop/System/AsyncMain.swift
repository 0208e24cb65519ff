internal import CUVSupport

/// The concurrency runtime's hook for asynchronous main functions.
enum AsyncMain {
    /// Sets the function that the main thread calls when the main function first suspends; it must
    /// not return.
    ///
    /// - Returns: `false` if the runtime has no such hook.
    static func setContinuation(_ function: @convention(c) () -> Void) -> Bool {
        cuv_set_async_main(function) == 0
    }
}
