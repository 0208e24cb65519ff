/// Something that a recorder writes; times are nanoseconds of the monotonic clock.
enum TraceEntry {
    case run(UVRunLoop.Mode, UVRunLoop.RunResult?, TraceSpan)
    case pass(number: Int, TraceSpan)
    case sleep(TraceSpan, TraceWake?)
    case call(Callout, TraceSpan)
    case wake(TraceWake, target: String, TraceSpan)
    case moment(String, at: Int64)
}

/// A time from one moment to another.
struct TraceSpan {
    let began: Int64
    let ended: Int64
}

/// A wake-up of a sleeping loop by another thread.
struct TraceWake {
    /// Joins the sender's part and the loop's.
    let number: Int
    let sender: Int32
    let senderName: String
}
