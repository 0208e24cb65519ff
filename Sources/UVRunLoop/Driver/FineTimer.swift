import CUV
internal import CUVSupport
import Glibc

/// A timerfd and the `uv_poll` that watches it.
@safe
struct FineTimer: ~Copyable {
    private let descriptor: CInt
    private let poll: UVHandle<uv_poll_t>

    init(loop: UnsafeMutablePointer<uv_loop_t>) throws(UVError) {
        let descriptor = try StandardDescriptors.avoided(by: accepted(cuv_timer_create()))
        let poll: UVHandle<uv_poll_t>
        do {
            unsafe poll = try UVHandle { raw in unsafe uv_poll_init(loop, raw, descriptor) }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        unsafe poll.unreference()
        let readable = CInt(bitPattern: UV_READABLE.rawValue)
        let status = unsafe uv_poll_start(poll.raw, readable) { handle, _, _ in
            guard let handle = unsafe handle else { return }
            unsafe uv_stop(handle.pointee.loop)
        }
        assert(status == 0, "Bug in UVRunLoop: a timerfd could not be watched.")
        // libuv would do it in its next run, and abort the process if the kernel refused.
        unsafe cuv_poll_settle(poll.raw)
        let watching = cuv_epoll_add(unsafe uv_backend_fd(loop), descriptor, UInt32(cuv_poll_in))
        guard watching >= 0 else {
            unsafe poll.close()
            Glibc.close(descriptor)
            throw UVError(rawValue: watching)
        }
        self.descriptor = descriptor
        unsafe self.poll = consume poll
    }

    func set(to date: Int64) -> Bool { cuv_timer_set(descriptor, date) == 0 }

    consuming func close() {
        let descriptor = descriptor
        unsafe poll.close()
        Glibc.close(descriptor)
    }
}
