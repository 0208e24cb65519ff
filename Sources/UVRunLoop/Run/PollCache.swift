/// When a run polled the kernel last, and how long the result may stand in for another poll.
struct PollCache {
    /// The result is too old from this time on.
    var end: Int64
    /// How many polls the result may replace.
    var maxSkippedPolls: Int
    /// The engine's version at the time of the poll.
    var version: UInt64
    /// How often sources had asked the kernel for something new.
    var watchRequestCount: UInt64
    /// The number of the poll.
    ///
    /// A nested run polls later, under another number, and consumes what this poll has found.
    var number: Int64
    /// How many polls the result has replaced so far.
    var skippedPolls = 0
}
