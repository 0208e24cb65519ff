import UVRunLoop

extension Duration {
    /// The moment of the monotonic clock that is so far away; the present one for a limit that is
    /// negative.
    var fromNow: Int64 { monotonicNow().addingSaturating(max(nanosecondsRoundedUp, 0)) }
}
