/// The dates on which a repeating timer fires: a first one, and one every interval after it.
///
/// All dates are nanoseconds of the loop's clock. The arithmetic saturates: a date that does not
/// fit is never reached.
struct FireSeries: ~Copyable {
    /// The time between dates; more than zero.
    let interval: Int64
    /// The first date that no fire has accounted for yet.
    private let unaccounted: SharedNumber

    init(date: Int64, interval: Int64) {
        unaccounted = SharedNumber(date)
        self.interval = interval
    }

    /// Restarts the series at a date.
    func restart(at date: Int64) { unaccounted.value = date }

    /// Accounts for every date up to `now` with one fire.
    ///
    /// - Returns: The number of dates beyond the first that this fire accounts for.
    func fire(at now: Int64) -> Int64 {
        let first = unaccounted.value
        guard now >= first else { return 0 }
        let (elapsed, overflow) = now.subtractingReportingOverflow(first)
        guard !overflow else { return 0 }
        let missed = elapsed / interval
        unaccounted.value = first.adding(missed.addingSaturating(1), times: interval)
        return missed
    }

    /// Accounts for every date up to `now` without a fire.
    ///
    /// - Returns: The number of dates.
    func skip(to now: Int64) -> Int64 {
        now >= unaccounted.value ? fire(at: now) + 1 : 0
    }

    /// Returns the first date after `now` that no fire has accounted for.
    func date(after now: Int64) -> Int64 {
        let first = unaccounted.value
        guard first <= now else { return first }
        let (elapsed, overflow) = now.subtractingReportingOverflow(first)
        guard !overflow else { return .max }
        return first.adding((elapsed / interval).addingSaturating(1), times: interval)
    }
}

extension Int64 {
    /// Returns this plus `count` times `step`, or the largest number if that overflows.
    fileprivate func adding(_ count: Int64, times step: Int64) -> Int64 {
        let (product, tooLarge) = count.multipliedReportingOverflow(by: step)
        return tooLarge ? .max : addingSaturating(product)
    }
}
