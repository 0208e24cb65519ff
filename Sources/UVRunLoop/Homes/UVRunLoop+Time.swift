extension UVRunLoop {
    /// The current time of the calling thread's loop, or of the monotonic clock if it has none.
    package static var currentInstant: Instant { Instant(nanoseconds: currentTime) }

    /// The date after a delay, by the clock of ``currentInstant``.
    package static func currentInstant(after delay: Duration) -> Instant {
        Instant(nanoseconds: currentTime(after: delay))
    }

    /// The date after a delay, by the clock of this loop.
    package func instant(after delay: Duration) -> Instant {
        Instant(nanoseconds: time(after: delay))
    }

    /// The date after a delay, by the clock of this loop; a negative delay counts as zero.
    func time(after delay: Duration) -> Int64 {
        time.addingSaturating(max(delay.nanosecondsRoundedUp, 0))
    }

    private static var currentTime: Int64 {
        ThreadRecord.withCurrentLoop { $0?.time ?? monotonicNow() }
    }

    /// Returns the later of a date and the current time.
    static func currentTime(notBefore date: Instant) -> Int64 {
        ThreadRecord.withCurrentLoop {
            $0?.time(notBefore: date) ?? monotonicTime(notBefore: date.nanoseconds)
        }
    }

    /// Returns the date after a delay; a negative delay counts as zero.
    static func currentTime(after delay: Duration) -> Int64 {
        currentTime.addingSaturating(max(delay.nanosecondsRoundedUp, 0))
    }
}
