import CUV
internal import CUVSupport
import Synchronization

/// The part of a loop's driver that other threads may use: its clock, its one `uv_async`, its set
/// of descriptors.
///
/// Whatever touches the kernel's objects does so under one lock, and closing takes the same lock:
/// nobody ever writes to a descriptor number that is not the loop's any more.
final class UVRemote: LoopRemote {
    @safe
    private struct State: ~Copyable {
        var async: UnsafeMutablePointer<uv_async_t>?
        /// What is behind it; negative where that is libuv's own business.
        var wakeDescriptor: CInt = -1
        var descriptors = WatchedDescriptors()
    }

    private let state = Guarded(State())
    private let released = Atomic<Bool>(false)

    var now: Int64 { monotonicNow() }

    func time(notBefore date: Int64) -> Int64 { monotonicTime(notBefore: date) }

    func open(async: UnsafeMutablePointer<uv_async_t>, wakeDescriptor: CInt?, epoll: CInt) {
        let async = unsafe SendablePointer(async)
        state.withLock { state in
            unsafe state.async = unsafe async.raw
            state.wakeDescriptor = wakeDescriptor ?? -1
            state.descriptors.epoll = epoll
        }
    }

    /// From when this returns nobody reaches the loop's libuv handles or its epoll set any more.
    func close() {
        state.withLock { state in
            unsafe state.async = nil
            state.wakeDescriptor = -1
            state.descriptors.releaseAll()
        }
    }

    func wake() {
        state.withLock { state in
            // What the kernel refuses here, libuv may still be able to do.
            if state.wakeDescriptor >= 0, cuv_event_signal(state.wakeDescriptor) == 0 { return }
            guard let async = unsafe state.async else { return }
            let status = unsafe uv_async_send(async)
            assert(status == 0, "Bug in UVRunLoop: a wake-up could not be sent.")
        }
    }

    func release(_ descriptor: CInt, unless isWanted: () -> Bool) {
        state.withLock { state in
            guard !isWanted() else { return }
            state.descriptors.release(descriptor)
            released.store(true, ordering: .relaxed)
        }
    }

    /// Whether descriptors were released since the loop took notice of it last.
    var hasReleased: Bool {
        // The loop's own releases are seen at once; another thread's may wait for the next sleep.
        released.load(ordering: .relaxed) && released.exchange(false, ordering: .acquiring)
    }

    /// Changes the epoll set while no other thread can; does nothing once closed.
    func withDescriptors(_ body: (inout WatchedDescriptors) -> Void) {
        state.withLock { state in
            guard state.descriptors.epoll >= 0 else { return }
            body(&state.descriptors)
        }
    }
}

/// A loop's epoll set and which descriptors it has been in, so that each is given back exactly
/// once.
struct WatchedDescriptors {
    /// Negative once closed.
    var epoll: CInt = -1
    private var descriptors: Set<CInt> = []
    /// Released, and still known to libuv.
    private var released: Set<CInt> = []
    /// Those that the set does not hold at present.
    private var paused: Set<CInt> = []

    mutating func take(_ descriptor: CInt) throws(UVError) {
        if !descriptors.contains(descriptor) { try BlockingFlags.take(descriptor) }
        released.remove(descriptor)
        // The kernel does not watch it yet.
        if descriptors.insert(descriptor).inserted { paused.insert(descriptor) }
    }

    mutating func release(_ descriptor: CInt) { release(descriptor, setGoesOn: true) }

    private mutating func release(_ descriptor: CInt, setGoesOn: Bool) {
        guard descriptors.remove(descriptor) != nil else { return }
        released.insert(descriptor)
        let wasPaused = paused.remove(descriptor) != nil
        let isWatched = cuv_epoll_delete(epoll, descriptor) == 0
        // Without one, it was closed: the number is free, or that of a file which is not watched.
        if !isWatched, !wasPaused, setGoesOn { requireNoGhost(of: descriptor) }
        BlockingFlags.giveBack(descriptor, isSameFile: wasPaused ? nil : isWatched)
    }

    /// Has the kernel report nothing of a descriptor, errors and hang-ups included, which no mask
    /// holds back.
    mutating func pause(_ descriptor: CInt) {
        // Whatever the kernel answers, it reports nothing more.
        _ = cuv_epoll_delete(epoll, descriptor)
        if descriptors.contains(descriptor) { paused.insert(descriptor) }
    }

    mutating func noteWatched(_ descriptor: CInt) { paused.remove(descriptor) }

    /// Traps when the kernel goes on reporting a closed descriptor.
    ///
    /// It does as long as a duplicate of the descriptor is open, and it can be told to stop only by
    /// way of the number that is gone. libuv would spin for ever at the next event. While another
    /// thread starts a process there is a duplicate, too, but only until the program is loaded:
    /// that is waited for.
    private func requireNoGhost(of descriptor: CInt) {
        var looks = 1
        while cuv_epoll_holds(epoll, descriptor) != 0 {
            require(
                looks < Self.mostLooks,
                """
                Descriptor \(descriptor) was closed before its source was invalidated or removed, and a duplicate of \
                it is still open: the kernel goes on reporting it to the run loop, and cannot be told to stop. \
                Invalidate a source before you close its descriptor.
                """
            )
            sleepBriefly()
            looks += 1
        }
    }

    /// How often a duplicate is looked for that may be gone soon: some 50 ms.
    private static let mostLooks = 500

    mutating func takeReleased() -> Set<CInt> { exchange(&released, with: []) }

    mutating func releaseAll() {
        // The set is closed next, and all that it may still hold goes with it.
        for descriptor in descriptors { release(descriptor, setGoesOn: false) }
        epoll = -1
    }
}

/// Carries a pointer across the closure of a lock.
///
/// What it points to is libuv's; `UVRemote` says who may use it when.
@safe
private struct SendablePointer<Pointee>: @unchecked Sendable {
    let raw: UnsafeMutablePointer<Pointee>

    init(_ raw: UnsafeMutablePointer<Pointee>) { unsafe self.raw = raw }
}

/// The clock of every loop on libuv: nanoseconds of `CLOCK_MONOTONIC`, which stops while the
/// system is suspended.
package func monotonicNow() -> Int64 { Int64(bitPattern: uv_hrtime()) }

/// A date, or the present one when that has passed.
///
/// A date that is more than a second away needs no exact clock to be told from the past.
func monotonicTime(notBefore date: Int64) -> Int64 {
    let nearby: Int64 = 1_000_000_000
    return date.addingSaturating(-nearby) > cuv_coarse_time() ? date : max(date, monotonicNow())
}
