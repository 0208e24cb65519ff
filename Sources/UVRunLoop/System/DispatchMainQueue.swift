internal import CUVSupport

/// The main queue of libdispatch, as it lets a run loop serve it.
enum DispatchMainQueue {
    /// Whether this process has a main queue that can be served: libdispatch is a part of the
    /// program, and no fork has spoilt it.
    static var isPresent: Bool { cuv_has_main_queue() != 0 }

    /// Whether the program uses libdispatch, or was built to.
    ///
    /// Costs no system call.
    static var isInUse: Bool { cuv_may_use_main_queue() != 0 }

    /// Has a function called before each use of the main actor, on the thread that uses it.
    ///
    /// Costs no system call.
    static func beforeMainActorUse(_ hook: @convention(c) () -> Void) {
        cuv_before_main_actor_use(hook)
    }

    /// What is readable while the queue has blocks that wait.
    ///
    /// libdispatch makes it at the first call at the latest.
    static var descriptor: CInt { cuv_main_queue_descriptor() }

    /// Runs the blocks that wait.
    ///
    /// Those that are queued meanwhile wait for the next time. Stays out of line so that
    /// backtraces and profiles show whose turn it was.
    @inline(never)
    static func performBlocks(_ descriptor: CInt) {
        // First, so that whoever queues a block from now on announces it anew.
        cuv_main_queue_clear(descriptor)
        cuv_main_queue_drain()
    }
}
