internal import CUVSupport
import Glibc
import UVRunLoop

/// A timerfd: a date that an ``EventSet`` can wait for.
struct DateDescriptor: ~Copyable, Sendable {
    let descriptor: Descriptor

    init() throws(UVError) {
        descriptor = Descriptor(owning: try accepted(cuv_timer_create()))
    }

    /// Makes the descriptor readable from a moment of the monotonic clock on; `nil` makes it
    /// unreadable for good.
    func set(to nanoseconds: Int64?) {
        // With an open descriptor and a date in range nothing can go wrong.
        _ = cuv_timer_set(descriptor.number, nanoseconds.map { max(1, $0) } ?? 0)
    }
}

extension Stream {
    static func unixSocket() throws(UVError) -> Descriptor { try socket(family: AF_UNIX) }
}

extension Descriptor {
    /// Waits until the descriptor is ready, at most until a moment of the monotonic clock.
    ///
    /// - Returns: Whether it is ready, an error or hang-up included.
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

    /// Ends a connection in both directions; the descriptor stays open.
    func shutDown() { _ = shutdown(number, CInt(SHUT_RDWR)) }

    /// How many bytes could be read at once.
    var unreadByteCount: Int { max(0, Int(cuv_unread_bytes(number))) }
}

/// Lets a moment pass, for a peer that has to come first.
func pause(milliseconds: CInt) {
    _ = poll(nil, 0, milliseconds)
}
