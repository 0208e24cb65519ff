/// When a sleep must end, and how exactly.
package struct Moment: Equatable, Sendable {
    /// Nanoseconds of the loop's clock.
    package var date: Int64
    /// Whether the sleep may end up to ``slack`` later.
    package var isCoarse: Bool

    package init(date: Int64, isCoarse: Bool) {
        self.date = date
        self.isCoarse = isCoarse
    }

    /// When the sleep ends at the latest.
    var latest: Int64 { isCoarse ? date.addingSaturating(Self.slack) : date }

    /// How late a coarse moment may be met, in nanoseconds.
    ///
    /// libuv's timers and epoll each round up to a millisecond.
    package static let slack: Int64 = 2_000_000

    /// The moment within a timer's window at which the loop wakes.
    ///
    /// As late as the window allows, so that one wake-up serves as many timers as possible. If the
    /// window is too short for a coarse timer, the moment is its middle.
    init(_ window: WakeWindow) {
        let width = window.latest.subtractingReportingOverflow(window.earliest)
        let isWide = width.overflow || width.partialValue >= Self.slack
        self.init(
            date: isWide
                ? window.latest - Self.slack
                : window.earliest + width.partialValue / 2,
            isCoarse: isWide
        )
    }

    /// The moment of a run's limit, as seen from `now`.
    init(limit: Int64, now: Int64) {
        self.init(date: limit, isCoarse: limit.addingSaturating(-Self.slack) >= now)
    }

    /// Returns the earlier of two moments.
    ///
    /// A coarse one becomes fine if the later one is fine and comes within the ``slack``: the wait
    /// could overshoot it.
    static func earlier(_ one: Moment?, _ other: Moment?) -> Moment? {
        guard let one else { return other }
        guard let other else { return one }
        let (earlier, later) = other.date < one.date ? (other, one) : (one, other)
        let endangersLater =
            earlier.isCoarse && !later.isCoarse
            && later.date < earlier.date.addingSaturating(slack)
        return endangersLater ? Moment(date: earlier.date, isCoarse: false) : earlier
    }
}
