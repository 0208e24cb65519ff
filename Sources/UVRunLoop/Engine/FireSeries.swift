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
    func fire(at now: Int64) -> Int64 { max(skip(to: now) - 1, 0) }

    /// Accounts for every date up to `now` without a fire.
    ///
    /// - Returns: The number of dates.
    func skip(to now: Int64) -> Int64 {
        let count = count(upTo: now)
        if count > 0 { unaccounted.value = unaccounted.value.adding(count, times: interval) }
        return count
    }

    /// Returns the first date after `now` that no fire has accounted for.
    func date(after now: Int64) -> Int64 {
        unaccounted.value.adding(count(upTo: now), times: interval)
    }

    /// How many dates up to `now` no fire has accounted for.
    private func count(upTo now: Int64) -> Int64 {
        let first = unaccounted.value
        guard first <= now else { return 0 }
        let (elapsed, overflow) = now.subtractingReportingOverflow(first)
        return overflow ? .max : (elapsed / interval).addingSaturating(1)
    }
}

extension Int64 {
    /// Returns this plus `count` times `step`, or the largest number if that overflows.
    fileprivate func adding(_ count: Int64, times step: Int64) -> Int64 {
        let (product, tooLarge) = count.multipliedReportingOverflow(by: step)
        return tooLarge ? .max : addingSaturating(product)
    }
}
