internal import CUVSupport
internal import UVLibc
import UVRunLoop

extension Descriptor {
    /// Blocks until the descriptor is ready, or has an error or a hang-up, at most until a time of the
    /// monotonic clock.
    ///
    /// Where `poll` fails, as in a process that may open no descriptors, it ends after a millisecond
    /// at most: the caller tries, and waits again.
    func wait(forWriting: Bool, until date: Int64) {
        let events = Int16(POLLIN | (forWriting ? POLLOUT : 0))
        while true {
            let left = max(0, date.subtractingReportingOverflow(monotonicNow()).partialValue)
            let milliseconds = CInt(clamping: left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))
            var state = pollfd(fd: number, events: events, revents: 0)
            let count = unsafe poll(&state, 1, milliseconds)
            if count > 0 { return }
            if count < 0, errno != EINTR { return pause(milliseconds: min(milliseconds, 1)) }
            if monotonicNow() >= date { return }
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
