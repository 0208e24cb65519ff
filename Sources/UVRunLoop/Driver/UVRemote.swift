import CUV
internal import CUVSupport
import Synchronization

/// The part of a loop's driver that other threads may use: its clock, its `uv_async`, its epoll
/// set.
///
/// Every access by another thread is under one lock, and so is closing. So no thread writes to a
/// descriptor number that the loop has closed.
final class UVRemote: LoopRemote {
    @safe
    private struct State: ~Copyable {
        var async: UnsafeMutablePointer<uv_async_t>?
        /// The eventfd behind the `uv_async`; negative if only libuv may write to it.
        var wakeDescriptor: CInt = -1
        var descriptors = WatchedDescriptors()
    }

    private let state = Guarded(State())
    private let released = Atomic<Bool>(false)

    var now: Int64 { monotonicNow() }

    var isOnSystemClock: Bool { true }

    func open(async: UnsafeMutablePointer<uv_async_t>, wakeDescriptor: CInt?, epoll: CInt) {
        let async = unsafe Transferred(async)
        state.withLock { state in
            unsafe state.async = unsafe async.value
            state.wakeDescriptor = wakeDescriptor ?? -1
            state.descriptors.epoll = epoll
        }
    }

    /// Closes the remote: no thread uses the loop's libuv handles or its epoll set afterwards.
    func close() {
        state.withLock { state in
            unsafe state.async = nil
            state.wakeDescriptor = -1
            state.descriptors.releaseAll()
        }
    }

    func wake() {
        state.withLock { state in
            // If the write fails, `uv_async_send` may still succeed.
            if state.wakeDescriptor >= 0, cuv_event_signal(state.wakeDescriptor) == 0 { return }
            guard let async = unsafe state.async else { return }
            let status = unsafe uv_async_send(async)
            assert(status == 0, "Bug in UVRunLoop: a wake-up could not be sent.")
        }
    }

    func release(_ descriptor: CInt, unless isWanted: () -> Bool) {
        withDescriptors { descriptors in
            guard !isWanted() else { return }
            released.store(true, ordering: .relaxed)
            descriptors.release(descriptor)
        }
    }

    func makeNonblocking(_ descriptor: CInt, if isWanted: () -> Bool) {
        withDescriptors { descriptors in
            // The next poll finds a refusal.
            if isWanted() { try? descriptors.makeNonblocking(descriptor) }
        }
    }

    /// Traps if the kernel still reports a descriptor that was closed while it was watched.
    ///
    /// It does while a duplicate of the descriptor is open, and the registration can only be
    /// removed by the number that is gone. libuv would spin forever at the next event. Another
    /// thread that starts a process also has a duplicate, but only until the program is loaded, so
    /// this waits for a while; not under the lock, which a wake-up of the loop takes.
    private func requireNoStaleRegistration(of descriptor: CInt) {
        var checks = 1
        while state.withLock({ $0.descriptors.holdsStaleRegistration(of: descriptor) }) {
            require(
                checks < Self.maxStaleChecks,
                """
                Descriptor \(descriptor) was closed before its source was invalidated or removed, \
                and a duplicate of it is still open: the kernel keeps reporting it to the run \
                loop, and no call can stop that. Invalidate a source before closing its descriptor.
                """
            )
            sleepBriefly()
            checks += 1
        }
    }

    /// How often to check for a duplicate that may be closed soon: for about 200 ms.
    private static let maxStaleChecks = 2_000

    func releaseAll() { state.withLock { $0.descriptors.releaseAll() } }

    /// Returns whether descriptors were released since the last call.
    func takeReleaseMark() -> Bool {
        // The loop's own releases are visible at once; another thread's may wait for the next
        // sleep.
        released.load(ordering: .relaxed) && released.exchange(false, ordering: .acquiring)
    }

    /// Lends the epoll set while no other thread can change it; does nothing once closed.
    func withDescriptors(_ body: (inout WatchedDescriptors) -> Void) {
        let suspects = state.withLock { state -> [CInt] in
            guard state.descriptors.epoll >= 0 else { return [] }
            body(&state.descriptors)
            return state.descriptors.takeSuspects()
        }
        suspects.forEach(requireNoStaleRegistration)
    }
}
