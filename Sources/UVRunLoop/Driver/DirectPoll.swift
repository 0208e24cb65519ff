import CUV
internal import CUVSupport

/// Polls libuv's epoll set without going through libuv.
///
/// A poll by libuv that does not wait costs twice as much: libuv reads the clock twice and handles
/// its timers and handles. Descriptors that are ready for libuv itself stay ready, for the next
/// sleep. While as many descriptors are ready as libuv requests in one call, it repeats the call up
/// to 48 times in one poll, with the same result.
enum DirectPoll {
    private static let few = cuv_few_ready
    private static let many = cuv_many_ready

    /// Called with a ready descriptor, its readiness, and whether there is more than that: an
    /// error or a hang-up, of which the exact condition is queried later.
    typealias Reporter = (
        _ descriptor: CInt, _ events: UVRunLoop.DescriptorEvents, _ mayHaveEnded: Bool
    ) -> Void

    /// Polls without waiting, and reports the ready descriptors.
    ///
    /// - Returns: Whether there may be more of them: ``pollForMany(epoll:into:_:)`` is to be
    ///   called.
    @inline(__always)
    static func poll(epoll: CInt, _ body: Reporter) -> Bool {
        unsafe withUnsafeTemporaryAllocation(of: cuv_ready.self, capacity: few) { buffer in
            guard let found = buffer.baseAddress else { return false }
            let count = unsafe Int(cuv_epoll_ready(epoll, found))
            unsafe report(count, found, body)
            return count == few
        }
    }

    /// Polls until all that is ready was found, for as many events at a time as libuv requests; a
    /// descriptor may be reported again.
    ///
    /// To be called where it is not inlined, because it takes 20 KiB of the stack. glibc returns
    /// the pages of an ending thread's stack to the system, except for about the first 16 KiB. With
    /// these arrays in the frame of every poll, each thread that ran its loop faulted a page in
    /// again, which took 12 of the 86 µs from its start to its end.
    @inline(__always)
    static func pollForMany(
        epoll: CInt,
        into reports: ReadyReports,
        _ body: Reporter
    ) {
        unsafe withUnsafeTemporaryAllocation(of: cuv_ready.self, capacity: many) { buffer in
            guard let found = buffer.baseAddress else { return }
            var (count, known) = (many, -1)
            // The kernel begins behind what it found the time before.
            while count == many, reports.count > known {
                known = reports.count
                count = unsafe Int(cuv_epoll_many_ready(epoll, found))
                unsafe report(count, found, body)
            }
        }
    }

    @inline(__always)
    private static func report(
        _ count: Int,
        _ found: UnsafePointer<cuv_ready>,
        _ body: Reporter
    ) {
        let endings = CInt(cuv_poll_error | cuv_poll_hang_up | cuv_poll_peer_hang_up)
        for index in 0..<max(0, count) {
            let mask = unsafe CInt(bitPattern: found[index].events)
            unsafe body(found[index].descriptor, .init(kernelMask: mask), mask & endings != 0)
        }
    }
}
