internal import CUVSupport

/// The main queue of libdispatch, as a run loop serves it.
enum DispatchMainQueue {
    /// Whether this process has a main queue that can be served: libdispatch is loaded, and this is
    /// not a forked child in which it cannot be used.
    static var isPresent: Bool { cuv_has_main_queue() != 0 }

    /// Whether the program uses libdispatch, or was built to.
    ///
    /// Makes no system call.
    static var isInUse: Bool { cuv_may_use_main_queue() != 0 }

    /// Sets a function that is called before each use of the main actor, on the calling thread.
    ///
    /// Makes no system call.
    static func beforeMainActorUse(_ hook: @convention(c) () -> Void) {
        cuv_before_main_actor_use(hook)
    }

    /// A descriptor that is readable while the queue has blocks.
    ///
    /// libdispatch creates it in the first call, if not before.
    static var descriptor: CInt { cuv_main_queue_descriptor() }

    /// Runs the queued blocks.
    ///
    /// Blocks that they queue run next time. Never inlined, so that backtraces and profiles show
    /// the callout.
    @inline(never)
    static func performBlocks(_ descriptor: CInt) {
        // First, so that blocks queued from now on make the descriptor readable again.
        cuv_main_queue_clear(descriptor)
        cuv_main_queue_drain()
    }
}
