import UVRunLoop

/// A time in which nothing happens on a virtual clock: real time, of which there may be a limit.
struct QuietTime {
    /// The activity of the clock during which it began.
    let activity: UInt64
    /// When it has lasted for the limit, in nanoseconds of the monotonic clock; `nil` without one.
    private let end: Int64?

    init(activity: UInt64, limit: Duration?) {
        self.activity = activity
        end = limit.map { monotonicNow().addingSaturating(max($0.nanosecondsRoundedUp, 0)) }
    }

    /// What is left of the limit, for poll(2), which counts in milliseconds; negative for ever.
    var milliseconds: CInt {
        end.map { CInt(clamping: max(($0 - monotonicNow() + 999_999) / 1_000_000, 0)) } ?? -1
    }
}
