import UVRunLoop

extension Duration {
    /// The time of the monotonic clock after this duration; now for a negative one.
    var fromNow: Int64 { monotonicNow().addingSaturating(max(nanosecondsRoundedUp, 0)) }
}
