/// The dates on which a timer fires: a first one and, for a repeating timer, one every interval
/// after it.
///
/// All dates are nanoseconds of the loop's clock. The arithmetic saturates: a date that does not
/// fit is never reached.
struct FireSeries {
    /// The next date.
    private(set) var date: Int64
    /// Zero for a timer that fires once.
    private let period: Int64
    /// The first date that no fire has accounted for yet; never later than `date`.
    private var unaccounted: Int64

    init(date: Int64, interval: Int64?) {
        self.date = date
        period = interval ?? 0
        unaccounted = date
    }

    /// `nil` for a timer that fires once.
    var interval: Int64? { period == 0 ? nil : period }

    /// Restarts the series at a date.
    mutating func restart(at date: Int64) {
        self.date = date
        unaccounted = date
    }

    /// Accounts for every date up to `now` with one fire.
    ///
    /// - Returns: The number of dates beyond the first that this fire accounts for.
    mutating func fire(at now: Int64) -> Int {
        guard let interval, now >= unaccounted else { return 0 }
        let (elapsed, overflow) = now.subtractingReportingOverflow(unaccounted)
        guard !overflow else { return 0 }
        let missed = elapsed / interval
        unaccounted = unaccounted.adding(missed.addingSaturating(1), times: interval)
        return Int(missed)
    }

    /// Accounts for every date up to `now` without a fire, and goes on to the first date after it.
    ///
    /// - Returns: The number of dates.
    mutating func skip(to now: Int64) -> Int {
        guard interval != nil, now >= unaccounted else { return 0 }
        let count = fire(at: now) + 1
        advance(past: now)
        return count
    }

    /// Sets `date` to the first date after `now`.
    mutating func advance(past now: Int64) {
        guard let interval else { return }
        guard unaccounted <= now else {
            date = unaccounted
            return
        }
        let (elapsed, overflow) = now.subtractingReportingOverflow(unaccounted)
        guard !overflow else { return }
        date = unaccounted.adding((elapsed / interval).addingSaturating(1), times: interval)
    }
}

extension Int64 {
    /// Returns this plus `count` times `step`, or the largest number if that overflows.
    fileprivate func adding(_ count: Int64, times step: Int64) -> Int64 {
        let (product, tooLarge) = count.multipliedReportingOverflow(by: step)
        return tooLarge ? .max : addingSaturating(product)
    }
}
