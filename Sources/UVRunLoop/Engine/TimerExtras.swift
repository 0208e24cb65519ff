/// What a plain one-shot timer does not have: an interval, a tolerance, missed dates or a label.
///
/// They are made when a timer needs them, so that the others take less memory. The timer's lock
/// guards the dates and the tolerance, as it does its ``TimerCore``.
class TimerExtras {
    /// The dates of a repeating timer; of another one, never read.
    @safe @exclusivity(unchecked) final var series: FireSeries
    final let missed = SystemWord(0)
    /// Nanoseconds.
    @safe @exclusivity(unchecked) final var tolerance: Int64
    final let labelSlot = LabelSlot()

    init(series: FireSeries = FireSeries(date: 0, interval: .max), tolerance: Int64 = 0) {
        self.series = series
        self.tolerance = tolerance
    }
}

extension TimerReference {
    /// The next date to fire on.
    var date: Int64 {
        @inline(__always) get { core.date }
    }

    /// The time between fires; `nil` for a timer that fires once.
    var period: Int64? { repeats ? withExtras(\.series.interval) : nil }

    /// How late a fire may be, in nanoseconds.
    var slack: Int64 { core.hasTolerance ? withExtras(\.tolerance) ?? 0 : 0 }

    var repeats: Bool { traits.contains(.repeats) }

    /// How many dates more than its own the present or latest fire stands for; needs no lock.
    var missed: Int {
        repeats ? withExtras { Int(truncatingIfNeeded: $0.missed.loadRelaxed()) } ?? 0 : 0
    }

    /// The end of the window in which the timer should fire.
    var latest: Int64 {
        @inline(__always) get { core.hasTolerance ? date.addingSaturating(slack) : date }
    }

    func setSlack(_ slack: Int64) {
        guard slack > 0 || core.hasTolerance else { return }
        makeExtras().tolerance = slack
        core.hasTolerance = slack > 0
    }

    /// Restarts the series of dates.
    func restart(at date: Int64) {
        core.date = date
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
            let missed = extras.series.fire(at: now)
            extras.missed.storeReleasing(UInt64(truncatingIfNeeded: missed))
        }
    }

    /// Accounts for every date up to `now` without a fire, and goes on to the first date after it.
    ///
    /// - Returns: The number of dates.
    func skipDates(upTo now: Int64) -> Int {
        guard repeats else { return 0 }
        return withExtras { extras in
            let count = extras.series.skip(to: now)
            if count > 0 { core.date = extras.series.date(after: now) }
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
        core.date = next
        return true
    }
}
