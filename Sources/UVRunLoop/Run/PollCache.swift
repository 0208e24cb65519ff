/// When a run last polled the kernel, and how long the result may replace further polls.
struct PollCache {
    /// When the result expires.
    var end: Int64
    /// How many polls the result may replace.
    var maxSkippedPolls: Int
    /// The version of the run's view when the poll began; direct delivery needs the same view.
    var version: UInt64
    /// The waker's `addedPortCount` when the poll began.
    ///
    /// The kernel does not watch what another thread has added since, during a sleep for example.
    var addedPortCount: UInt64
    /// The number of the poll.
    ///
    /// The polls of a nested run have later numbers, and consume the result of this one.
    var number: Int64
    /// How many polls the result has replaced so far.
    var skippedPolls = 0
}
