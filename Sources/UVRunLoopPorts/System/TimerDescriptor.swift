internal import CUVSupport
import UVRunLoop

/// Owns a timerfd: a deadline that an ``EventSet`` can watch.
struct TimerDescriptor: ~Copyable, Sendable {
    let descriptor: Descriptor

    init() throws(UVError) {
        descriptor = try .timer()
    }

    /// Makes the descriptor readable from a time of the monotonic clock on; `nil` disarms it.
    func set(to nanoseconds: Int64?) {
        // This cannot fail for an open descriptor and a valid time.
        _ = cuv_timer_set(descriptor.number, nanoseconds.map { max(1, $0) } ?? 0)
    }
}
