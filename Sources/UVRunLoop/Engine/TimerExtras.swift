/// The state that a plain one-shot timer does not have: an interval, a tolerance, missed dates or a
/// label.
///
/// They are made when a timer needs them, so that the others take less memory: 56 bytes, and 64 of
/// the heap. What users may change is set under the timer's lock, as its ``TimerCore`` is, but for
/// the label, which has a lock of its own; it is read without the timer's lock.
class TimerExtras {
    /// The dates of a repeating timer; of another one, never read.
    let series: FireSeries
    let missed = SharedNumber(0)
    /// Nanoseconds.
    let tolerance: SharedNumber
    let labelBox = LabelBox()

    init(_ date: Int64, _ interval: Int64, _ tolerance: Int64) {
        series = FireSeries(date: date, interval: interval)
        self.tolerance = SharedNumber(tolerance)
    }
}

/// The same for a timer with a companion.
final class CompanionedExtras: TimerExtras {
    /// An object that another layer keeps with the timer.
    let companion: any AnyObject & Sendable

    init(
        _ date: Int64,
        _ interval: Int64,
        _ tolerance: Int64,
        _ companion: any AnyObject & Sendable
    ) {
        self.companion = companion
        super.init(date, interval, tolerance)
    }
}

extension TimerReference {
    // The interval, the tolerance and the number of missed dates are read without the lock.

    /// The time between fires; `nil` for a timer that fires once.
    var period: Int64? { repeats ? withExtras { $0.series.interval } : nil }

    /// How late a fire may be, in nanoseconds.
    var slack: Int64 { withExtras { $0.tolerance.value } ?? 0 }

    var repeats: Bool { traits.contains(.repeats) }

    /// How many dates more than its own the present or latest fire stands for.
    var missed: Int {
        repeats ? withExtras { Int($0.missed.value) } ?? 0 : 0
    }

    /// The end of the window in which the timer should fire.
    var latest: Int64 {
        @inline(__always) get { core.hasTolerance ? date.addingSaturating(slack) : date }
    }

    func setSlack(_ slack: Int64) {
        guard slack > 0 || core.hasTolerance else { return }
        makeExtras().tolerance.value = slack
        core.hasTolerance = slack > 0
    }

    /// Restarts the series of dates.
    func restart(at date: Int64) {
        self.date = date
        core.awaitsNextDate = false
        if repeats { withExtras { $0.series.restart(at: date) } }
    }

    /// Accounts for every date up to `now` with the fire that begins.
    @inline(__always)
    func accountForFire(at now: Int64) {
        if repeats { accountForDates(upTo: now) }
    }

    @inline(never)
    private func accountForDates(upTo now: Int64) {
        withExtras { extras in
            extras.missed.value = extras.series.fire(at: now)
        }
    }

    /// Accounts for every date up to `now` without a fire, and goes on to the first date after it.
    ///
    /// - Returns: The number of dates.
    func skipDates(upTo now: Int64) -> Int {
        guard repeats else { return 0 }
        return withExtras { extras in
            let count = Int(extras.series.skip(to: now))
            if count > 0 { date = extras.series.date(after: now) }
            return count
        } ?? 0
    }

    /// Ends a call, and goes on to the next date.
    ///
    /// - Parameter now: The time after the call; `nil` leaves the date as it is.
    /// - Returns: Whether the date has changed.
    @discardableResult
    @inline(__always)
    func endCall(now: Int64?) -> Bool {
        core.callDidEnd()
        return repeats ? now.map { advance(past: $0) } ?? false : false
    }

    /// A date that was set in the handler is kept.
    private func advance(past now: Int64) -> Bool {
        guard core.awaitsNextDate, let next = withExtras({ $0.series.date(after: now) })
        else { return false }
        date = next
        return true
    }
}
