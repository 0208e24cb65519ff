/// The dates on which a repeating timer fires: a first one, and one every interval after it.
///
/// All dates are nanoseconds of the loop's clock. The arithmetic saturates: a date that does not
/// fit is never reached.
struct FireSeries {
    /// The time between dates; more than zero.
    let interval: Int64
    /// The first date that no fire has accounted for yet.
    private var unaccounted: Int64

    init(date: Int64, interval: Int64) {
        unaccounted = date
        self.interval = interval
    }

    /// Restarts the series at a date.
    mutating func restart(at date: Int64) { unaccounted = date }

    /// Accounts for every date up to `now` with one fire.
    ///
    /// - Returns: The number of dates beyond the first that this fire accounts for.
    mutating func fire(at now: Int64) -> Int {
        guard now >= unaccounted else { return 0 }
        let (elapsed, overflow) = now.subtractingReportingOverflow(unaccounted)
        guard !overflow else { return 0 }
        let missed = elapsed / interval
        unaccounted = unaccounted.adding(missed.addingSaturating(1), times: interval)
        return Int(missed)
    }

    /// Accounts for every date up to `now` without a fire.
    ///
    /// - Returns: The number of dates.
    mutating func skip(to now: Int64) -> Int {
        now >= unaccounted ? fire(at: now) + 1 : 0
    }

    /// Returns the first date after `now` that no fire has accounted for.
    func date(after now: Int64) -> Int64 {
        guard unaccounted <= now else { return unaccounted }
        let (elapsed, overflow) = now.subtractingReportingOverflow(unaccounted)
        guard !overflow else { return .max }
        return unaccounted.adding((elapsed / interval).addingSaturating(1), times: interval)
    }
}

extension Int64 {
    /// Returns this plus `count` times `step`, or the largest number if that overflows.
    fileprivate func adding(_ count: Int64, times step: Int64) -> Int64 {
        let (product, tooLarge) = count.multipliedReportingOverflow(by: step)
        return tooLarge ? .max : addingSaturating(product)
    }
}
