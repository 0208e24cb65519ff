import CUV
internal import CUVSupport
import Synchronization

/// The descriptor behind a loop's `uv_async`, if writing to it is better than `uv_async_send`.
///
/// `uv_async_send` of libuv before 1.45 marks the handle as busy until its write has returned, and
/// a loop that wakes meanwhile spins until then. If both threads share a core, the kernel switches
/// to the loop inside that write, and the loop only spins: a round trip between two loops took 82
/// to 89 µs of CPU time instead of 7. The write alone wakes the loop, and the handle's callback
/// has nothing to do.
enum WakeDescriptor {
    /// How the process wakes loops; determined once.
    private enum Verdict: UInt8, AtomicRepresentable {
        case unknown, writes, sends
    }

    private static let verdict = Atomic<Verdict>(.unknown)

    /// Finds the descriptor to write to.
    ///
    /// - Parameter loop: An unused loop whose `uv_async` is in its epoll set.
    /// - Returns: The descriptor; `nil` if `uv_async_send` is to be called.
    static func find(of loop: UnsafeMutablePointer<uv_loop_t>) -> CInt? {
        let descriptor = unsafe cuv_loop_eventfd(loop)
        if verdict.load(ordering: .relaxed) == .unknown {
            let isGood = unsafe !LibuvVersion.isAtLeast1_45 && wakes(descriptor, loop)
            verdict.store(isGood ? .writes : .sends, ordering: .relaxed)
        }
        return descriptor >= 0 && verdict.load(ordering: .relaxed) == .writes ? descriptor : nil
    }

    /// Whether the descriptor works as expected: an eventfd that the loop finds ready once it was
    /// written to, and then reads.
    private static func wakes(
        _ descriptor: CInt,
        _ loop: UnsafeMutablePointer<uv_loop_t>
    ) -> Bool {
        guard descriptor >= 0, !isReadable(descriptor),
            cuv_event_signal(descriptor) == 0, isReadable(descriptor),
            unsafe cuv_has_ready_descriptor(loop) != 0
        else {
            return false
        }
        _ = unsafe uv_run(loop, UV_RUN_NOWAIT)
        return !isReadable(descriptor)
    }

    private static func isReadable(_ descriptor: CInt) -> Bool {
        let condition = cuv_condition(descriptor)
        return condition >= 0 && condition & CInt(cuv_poll_in) != 0
    }
}
