/// The model's state of a timer.
struct TimerState {
    /// "An interval of zero or less repeats every 0.1 ms".
    static let shortest: Int64 = 100_000

    var date: Int64 = 0
    var interval: Int64?
    var tolerance: Int64 = 0
    /// When it was scheduled last, in each of its modes.
    var scheduled: [ModeName: Int] = [:]
    /// The same of a timer that is in no mode, when it was in one.
    var scheduledBefore = 0
    /// Whether a date was set since the handler of the present fire was called.
    var wasRedated = false
    /// How many dates have passed since the latest fire without a fire of their own.
    var skipped = 0
    /// As `missedFires` says.
    var missed = 0
}

extension Model {
    /// "Due timers of a mode fire in date order, ties in order of scheduling." One whose handler is
    /// on the stack does not.
    func dueTimers(_ mode: ModeName) -> [Int] {
        members[mode, default: []]
            .filter { isTimer($0) && !items[$0].isOnStack && items[$0].timer.date <= now }
            .sorted { turn($0, mode) < turn($1, mode) }
    }

    private func turn(_ item: Int, _ mode: ModeName) -> (Int64, Int) {
        (items[item].timer.date, items[item].timer.scheduled[mode, default: 0])
    }

    /// When a timer was first scheduled in one of its modes as it is now.
    func firstScheduled(_ item: Int) -> Int {
        ModeName.concrete.filter { isIn(item, $0) }
            .map { items[item].timer.scheduled[$0, default: 0] }.min()
            ?? items[item].timer.scheduledBefore
    }

    /// Fires those that were due when the batch began; "each is checked again just before its call
    /// (still valid, still due now, still in the mode)".
    func fire(_ batch: [Int], _ mode: ModeName) {
        let start = now
        for item in batch
        where items[item].isValid && items[item].timer.date <= now && isIn(item, mode)
            && !items[item].isOnStack
        { fireByDate(item, batchStart: start) }
    }

    private func fireByDate(_ item: Int, batchStart: Int64) {
        let date = items[item].timer.date
        let interval = items[item].timer.interval
        // "A date that passes while any handler runs waits for the next time round."
        let late = interval.map { Int(max(batchStart - date, 0) / $0) } ?? 0
        items[item].timer.missed = items[item].timer.skipped + late
        items[item].timer.skipped = 0
        items[item].timer.wasRedated = false
        call(item)
        guard items[item].isValid, let interval else { return invalidate(item) }
        guard !items[item].timer.wasRedated else { return }
        // "Scheduled date + k × interval, the first such date after now", once the handler has
        // returned. Dates that passed meanwhile are folded into the next fire.
        let steps = max((now - date) / interval + 1, 1)
        items[item].timer.skipped = Int(steps) - 1 - late
        schedule(item, date + steps * interval)
    }

    private func call(_ item: Int) {
        callOut(to: item, .fired(item, missed: items[item].timer.missed, place))
    }

    /// Gives a timer a date in all its modes.
    private func schedule(_ item: Int, _ date: Int64) {
        items[item].timer.date = date
        let turn = nextTick()
        for mode in ModeName.concrete { items[item].timer.scheduled[mode] = turn }
        items[item].timer.scheduledBefore = turn
    }

    /// "A date in the past, when made or set, becomes now, and the series counts from there." None
    /// revives an invalid timer.
    func setDate(_ item: Int, _ date: Int64) {
        guard items[item].isValid else { return }
        letTimePass()
        schedule(item, max(date, now))
        items[item].timer.wasRedated = true
        items[item].timer.skipped = 0
    }

    /// "Calls the handler at once; a repeating timer's dates stay as they were, a one-shot is
    /// invalidated".
    func fireByHand(_ item: Int) {
        guard items[item].isValid else { return }
        call(item)
        if items[item].timer.interval == nil { invalidate(item) }
    }

    /// The date of a mode's soonest timer.
    func nextDate(_ mode: ModeName) -> Int64? {
        members[mode, default: []].filter(isTimer).map { items[$0].timer.date }.min()
    }
}
