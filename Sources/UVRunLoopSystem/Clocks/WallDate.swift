import UVRunLoop

extension UVRunLoop {
    /// A date of the calendar's clock, which may be set: a time since the beginning of 1970, UTC.
    ///
    /// > Threading: Any thread.
    public struct WallDate: Hashable, Comparable, Sendable {
        /// Nanoseconds since the beginning of 1970; dates from 1677 to 2262.
        let nanoseconds: Int64

        init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

        /// Creates a date.
        ///
        /// - Parameter sinceEpoch: The time since the beginning of 1970, UTC, without leap seconds,
        ///   as `time_t` and `timeIntervalSince1970` count. Dates before 1677 and after 2262 count
        ///   as the first and the last of these years; fractions of a nanosecond are rounded up.
        public init(sinceEpoch: Duration) {
            nanoseconds = sinceEpoch.nanosecondsRoundedUp
        }

        /// The time since the beginning of 1970, UTC.
        public var sinceEpoch: Duration { .nanoseconds(nanoseconds) }

        /// The current date of the system's clock.
        public static var now: WallDate { WallDate(nanoseconds: WallAlarm.now) }

        /// Whether one date is earlier than another.
        public static func < (left: WallDate, right: WallDate) -> Bool {
            left.nanoseconds < right.nanoseconds
        }

        /// Returns the date after a time; the first or the last of all dates if there is none.
        public static func + (date: WallDate, duration: Duration) -> WallDate {
            WallDate(
                nanoseconds: date.nanoseconds.addingSaturating(duration.nanosecondsRoundedUp)
            )
        }
    }
}
