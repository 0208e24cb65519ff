/// What a loop keeps about a timer.
struct TimerRecord: ItemRecord {
    let timer: UVRunLoop.Timer
    var series: FireSeries
    var tolerance: Int64
    var attachment = Attachment()
    /// When it was scheduled last, which settles the order among equal dates.
    fileprivate var serial: UInt64 = 0
    fileprivate var wasRedated = false
    /// Whether the call on the stack is for the date, and not for somebody who called `fire()`.
    fileprivate var isCalledForDate = false

    init(timer: UVRunLoop.Timer, series: FireSeries, tolerance: Int64) {
        self.timer = timer
        self.series = series
        self.tolerance = tolerance
    }

    private var latest: Int64 { series.date.addingSaturating(tolerance) }

    func join(_ mode: inout ModeContents, slot: UInt32) -> Place {
        let place = mode.timers.places.take(for: slot)
        mode.timerCount += 1
        if !timer.isBeingCalled { queue(place, in: &mode) }
        return place
    }

    func leave(_ mode: inout ModeContents, place: Place) {
        mode.timers.unschedule(place)
        mode.timers.places.give(back: place)
        mode.timerCount -= 1
    }

    private func queue(_ place: Place, in mode: inout ModeContents) {
        mode.timers.schedule(place, date: series.date, latest: latest, serial: serial)
    }

    /// Queues the timer in all its modes, unless it is being called.
    fileprivate func schedule(in modes: inout ModeTable) {
        guard !timer.isBeingCalled else { return }
        attachment.forEach { queue($0.place, in: &modes[$0.mode]) }
    }

    fileprivate func unschedule(in modes: inout ModeTable) {
        attachment.forEach { modes[$0.mode].timers.unschedule($0.place) }
    }

    /// Takes the timer out of its queues for a call.
    fileprivate mutating func beginCall(forDate: Bool, in modes: inout ModeTable) {
        unschedule(in: &modes)
        guard timer.callWillBegin() else { return }
        wasRedated = false
        isCalledForDate = forDate
    }

    /// Queues the timer again after a call; without a time its date stays as it is.
    fileprivate mutating func endCall(now: Int64?, serial: UInt64, in modes: inout ModeTable) {
        timer.callDidEnd()
        if let now, !wasRedated {
            series.advance(past: now)
            self.serial = serial
        }
        schedule(in: &modes)
    }

    /// The dates it leaves with.
    ///
    /// A handler that takes its own timer out has seen to the date it was called for.
    func seriesOnLeaving(now: Int64) -> FireSeries {
        guard timer.isBeingCalled, isCalledForDate, !wasRedated else { return series }
        var series = series
        series.advance(past: now)
        return series
    }
}

/// A timer taken out of its queues to be fired.
struct Firing {
    var timer: UVRunLoop.Timer
    var ticket: Ticket
    /// How many dates this fire stands for beside its own.
    var missed: Int
}

extension Engine {
    mutating func add(_ ticket: Ticket, timerTo mode: UVRunLoop.Mode) {
        let serial = nextSerial()
        timers.modify(ticket) { $0.serial = serial }
        noteChange()
        _ = timers.add(ticket, to: mode, in: &modes)
    }

    /// Takes a timer out of a mode; answers its record when nothing keeps it here any more.
    mutating func remove(_ ticket: Ticket, timerFrom mode: UVRunLoop.Mode) -> TimerRecord? {
        noteChange()
        _ = timers.remove(ticket, from: mode, in: &modes)
        return timers.dropIfUnused(ticket)
    }

    /// Takes a timer out of the loop.
    mutating func removeTimer(_ ticket: Ticket) -> TimerRecord? {
        noteChange()
        return timers.removeEverywhere(ticket, in: &modes)?.record
    }

    mutating func setDate(_ date: Int64, of ticket: Ticket) {
        let serial = nextSerial()
        reschedule(ticket) {
            $0.series.restart(at: date)
            $0.serial = serial
            $0.wasRedated = true
        }
    }

    mutating func setTolerance(_ tolerance: Int64, of ticket: Ticket) {
        reschedule(ticket) { $0.tolerance = tolerance }
    }

    private mutating func reschedule(_ ticket: Ticket, _ change: (inout TimerRecord) -> Void) {
        timers.modify(ticket, in: &modes) { record, modes in
            record.unschedule(in: &modes)
            change(&record)
            record.schedule(in: &modes)
        }
    }

    mutating func schedule(_ ticket: Ticket) {
        timers.modify(ticket, in: &modes) { $0.schedule(in: &$1) }
    }

    /// The soonest date on which a valid timer of the mode fires, the timers being fired included.
    func soonestDate(in mode: UVRunLoop.Mode) -> Int64? {
        guard let index = modes.index(of: mode) else { return nil }
        let fired = firing.compactMap { timers[$0] }
            .filter { $0.attachment.place(in: index) != nil }
            .map(\.series.date)
        return (fired + [modes[index].timers.soonest].compactMap(\.self)).min()
    }

    /// How long the mode's timers let the loop sleep.
    func deadline(in mode: Int) -> Deadline? {
        modes[mode].timers.deadline { slot in timers[timers.ticket(at: slot)]?.series.date ?? .min }
    }

    // MARK: Firing

    mutating func beginBatch(in mode: Int, now: Int64) -> TimerQueue.Batch {
        let serial = nextSerial()
        return modes[mode].timers.beginBatch(now: now, serial: serial)
    }

    mutating func takeNext(of batch: TimerQueue.Batch, in mode: Int) -> Firing? {
        guard let slot = modes[mode].timers.takeNext(of: batch) else { return nil }
        let ticket = timers.ticket(at: slot)
        firing.append(ticket)
        return timers.modify(ticket, in: &modes) { record, modes in
            record.beginCall(forDate: true, in: &modes)
            let missed = record.series.fire(at: batch.now)
            return Firing(timer: record.timer, ticket: ticket, missed: missed)
        }
    }

    /// Takes a timer out of its queues while its handler runs; answers `false` if it is not here
    /// any more.
    mutating func beginCall(_ ticket: Ticket) -> Bool {
        let isHere = timers.modify(ticket, in: &modes) { record, modes in
            record.beginCall(forDate: false, in: &modes)
            return true
        }
        guard isHere == true else { return false }
        firing.append(ticket)
        return true
    }

    /// Decides what follows a call, which may itself have set another date or taken the timer out.
    ///
    /// - Parameters:
    ///   - ticket: The timer.
    ///   - now: The time after the call; `nil` leaves a repeating timer's date as it is.
    /// - Returns: What became of the timer. A one-shot timer's record goes with the call. For one
    ///   that is elsewhere the call has not ended yet.
    mutating func endCall(_ ticket: Ticket, now: Int64?) -> TimerAfterCall {
        if let index = firing.lastIndex(of: ticket) { firing.remove(at: index) }
        let serial = nextSerial()
        let repeats = timers.modify(ticket, in: &modes) { record, modes in
            guard record.series.interval != nil else {
                record.timer.callDidEnd()
                return false
            }
            record.endCall(now: now, serial: serial, in: &modes)
            return true
        }
        guard let repeats else { return .elsewhere }
        guard !repeats else { return .scheduled }
        return removeTimer(ticket).map(TimerAfterCall.done) ?? .elsewhere
    }
}

/// What became of a timer by the end of its call.
enum TimerAfterCall {
    case scheduled
    /// A one-shot timer has done its work; its record is to be released.
    case done(TimerRecord)
    /// Its handler took it out of the loop, and perhaps put it somewhere else.
    case elsewhere
}
