internal import CUVSupport
internal import UVLibc
import UVRunLoop

extension Descriptor {
    /// Blocks until the descriptor is ready, at most until a time of the monotonic clock.
    ///
    /// - Returns: Whether it is ready; an error or hang-up counts.
    func wait(forWriting: Bool, until date: Int64) throws(UVError) -> Bool {
        let events = Int16(POLLIN | (forWriting ? POLLOUT : 0))
        while true {
            let left = max(0, date.subtractingReportingOverflow(monotonicNow()).partialValue)
            let milliseconds = CInt(clamping: left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))
            var state = pollfd(fd: number, events: events, revents: 0)
            let count = unsafe poll(&state, 1, milliseconds)
            if count > 0 { return true }
            if count == 0, monotonicNow() >= date { return false }
            if count < 0, errno != EINTR { throw UVError(rawValue: -errno) }
        }
    }

    /// Shuts down a connection in both directions; the descriptor stays open.
    func shutDown() { _ = shutdown(number, CInt(SHUT_RDWR)) }

    /// The number of bytes that can be read without blocking.
    var unreadByteCount: Int { max(0, Int(cuv_unread_bytes(number))) }

    /// How much memory holds what was sent and the peer has not read.
    ///
    /// The kernel frees it in pieces of up to 36 KiB, so a peer that has read less may show no
    /// difference.
    var untakenByteCount: Int { max(0, Int(cuv_untaken_bytes(number))) }
}

/// Blocks the thread for a short time, before another attempt.
func pause(milliseconds: CInt) {
    _ = poll(nil, 0, milliseconds)
}
