import CUV
internal import CUVSupport

/// A timerfd and the `uv_poll` that watches it.
@safe
struct FineTimer: ~Copyable {
    private let descriptor: Descriptor
    private let poll: UVHandle<uv_poll_t>

    init(loop: UnsafeMutablePointer<uv_loop_t>) throws(UVError) {
        let descriptor = try Descriptor.timer()
        let number = descriptor.number
        let poll = try unsafe UVHandle<uv_poll_t> { raw in
            unsafe uv_poll_init(loop, raw, number)
        }
        unsafe poll.unreference()
        let readable = CInt(bitPattern: UV_READABLE.rawValue)
        let status = unsafe uv_poll_start(poll.raw, readable) { handle, _, _ in
            guard let handle = unsafe handle else { return }
            unsafe uv_stop(handle.pointee.loop)
        }
        assert(status == 0, "Bug in UVRunLoop: a timerfd could not be watched.")
        // libuv would add the descriptor in its next run, and abort the process if the kernel
        // refused.
        unsafe cuv_poll_settle(poll.raw)
        let watching = cuv_epoll_add(unsafe uv_backend_fd(loop), number, UInt32(cuv_poll_in))
        guard watching >= 0 else {
            unsafe poll.close()
            throw UVError(rawValue: watching)
        }
        self.descriptor = descriptor
        unsafe self.poll = consume poll
    }

    func set(to date: Int64) -> Bool { cuv_timer_set(descriptor.number, date) == 0 }

    consuming func close() {
        unsafe poll.close()
    }
}
