/// When a sleep is to end, and how exactly.
package struct Moment: Equatable, Sendable {
    /// Nanoseconds of the loop's clock.
    package var date: Int64
    /// Whether up to ``slack`` later is early enough.
    package var isCoarse: Bool

    package init(date: Int64, isCoarse: Bool) {
        self.date = date
        self.isCoarse = isCoarse
    }

    /// How late a coarse moment may be met, in nanoseconds: libuv's timers and epoll both round up
    /// to a millisecond.
    package static let slack: Int64 = 2_000_000

    /// The moment within a timer's window at which the loop wakes for it.
    ///
    /// As late as the window allows, so that one wake-up serves as many timers as possible; a
    /// window too short for a coarse timer is used up to its middle.
    init(_ deadline: Deadline) {
        let width = deadline.latest.subtractingReportingOverflow(deadline.earliest)
        let isWide = width.overflow || width.partialValue >= Self.slack
        self.init(
            date: isWide
                ? deadline.latest - Self.slack
                : deadline.earliest + width.partialValue / 2,
            isCoarse: isWide
        )
    }

    /// The moment at which a run's limit ends it, seen from `now`.
    init(limit: Int64, now: Int64) {
        self.init(date: limit, isCoarse: limit.addingSaturating(-Self.slack) >= now)
    }

    /// The earlier of two moments.
    static func earlier(_ one: Moment?, _ other: Moment?) -> Moment? {
        guard let one else { return other }
        guard let other else { return one }
        return other.date < one.date ? other : one
    }
}
