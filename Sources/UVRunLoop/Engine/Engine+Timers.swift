// The engine's timers lie in their modes' queues. Everything here is for timers that are in this
// loop, which whoever calls it has made sure of under the loop's lock.

extension UVRunLoop.Timer: TimerQueueMember {
    var date: Int64 { core.series.date }
    var serial: UInt64 { core.serial }
}

/// A timer taken out of its queues to be fired.
struct Firing {
    let timer: UVRunLoop.Timer
    let call: TimerCall?
    /// How many dates this fire stands for beside its own.
    let missed: Int

    let isRepeating: Bool
}

extension Engine {
    // MARK: Modes

    /// Adds a timer to a mode, or to every common one.
    mutating func add(_ timer: UVRunLoop.Timer, to mode: UVRunLoop.Mode) {
        timer.core.serial = nextSerial()
        noteChange()
        guard mode.isCommonName else { return join(timer, modes.makeIndex(of: mode)) }
        timerModes.setCommon(true, timer)
        for index in modes.common { join(timer, index) }
    }

    private mutating func join(_ timer: UVRunLoop.Timer, _ mode: Int) {
        guard timerModes.place(of: timer, in: mode) == nil else { return }
        let place = modes[mode].join(timer)
        timerModes.insert(TimerMembership(mode: Int32(mode), place: place), of: timer)
    }

    /// Gives a mode that has just become a common one the timers that are recorded as common.
    mutating func addCommonTimers(to index: Int) {
        for timer in allTimers where timer.core.isCommon { join(timer, index) }
    }

    /// The timers of the loop; one that is in several modes is met once in each.
    var allTimers: [UVRunLoop.Timer] {
        var timers = Array(timerModes.unplaced.values)
        for mode in 0..<modes.count { timers += modes[mode].timers.places.all }
        return timers
    }

    /// Takes a timer out of a mode, or, when it was added to `.common`, out of every common one.
    ///
    /// - Returns: Whether anything keeps it in the loop.
    mutating func remove(_ timer: UVRunLoop.Timer, from mode: UVRunLoop.Mode) -> Bool {
        noteChange()
        if !mode.isCommonName {
            if let index = modes.index(of: mode) { leave(timer, index) }
        } else if timer.core.isCommon {
            timer.core.isCommon = false
            for index in modes.common { leave(timer, index) }
        }
        timerModes.noteUnplaced(timer)
        return timer.core.isCommon || timerModes.isInAnyMode(timer)
    }

    private mutating func leave(_ timer: UVRunLoop.Timer, _ mode: Int) {
        guard let membership = timerModes.remove(timer, from: mode) else { return }
        // Whoever asked for this holds the timer.
        modes[mode].timerDidLeave(membership.place)
    }

    /// Takes a timer, which the caller holds, out of the loop.
    mutating func remove(_ timer: UVRunLoop.Timer) {
        noteChange()
        while timer.core.membership.mode >= 0 { leave(timer, Int(timer.core.membership.mode)) }
        if timer.core.isCommon { timerModes.setCommon(false, timer) }
    }

    func contains(_ timer: UVRunLoop.Timer, in mode: UVRunLoop.Mode) -> Bool {
        if mode.isCommonName { return timer.core.isCommon }
        return modes.index(of: mode).flatMap { timerModes.place(of: timer, in: $0) } != nil
    }

    // MARK: Dates

    mutating func setDate(_ date: Int64, of timer: UVRunLoop.Timer) {
        unschedule(timer)
        timer.core.restart(at: date)
        timer.core.serial = nextSerial()
        schedule(timer)
    }

    mutating func setTolerance(_ tolerance: Int64, of timer: UVRunLoop.Timer) {
        unschedule(timer)
        timer.core.tolerance = tolerance
        schedule(timer)
    }

    private mutating func queue(_ timer: UVRunLoop.Timer, _ place: Place, in mode: Int) {
        modes[mode].timers.schedule(place, date: timer.date, latest: timer.core.latest)
    }

    /// Queues the timer in all its modes, unless it is being called.
    mutating func schedule(_ timer: UVRunLoop.Timer) {
        guard !timer.core.isBeingCalled else { return }
        timerModes.forEach(of: timer) { queue(timer, $0.place, in: Int($0.mode)) }
    }

    private mutating func unschedule(_ timer: UVRunLoop.Timer) {
        timerModes.forEach(of: timer) { modes[Int($0.mode)].timers.unschedule($0.place) }
    }

    /// The soonest date on which a valid timer of the mode fires, the timers being fired included.
    func soonestDate(in mode: UVRunLoop.Mode) -> Int64? {
        guard let index = modes.index(of: mode) else { return nil }
        let fired = firing.filter { timerModes.place(of: $0, in: index) != nil }.map(\.date)
        return (fired + [modes[index].timers.soonest].compactMap(\.self)).min()
    }

    /// How long the mode's timers let the loop sleep.
    func deadline(in mode: Int) -> Deadline? { modes[mode].timers.deadline }

    // MARK: Firing

    mutating func beginBatch(in mode: Int, now: Int64) -> TimerBatch {
        let serial = nextSerial()
        return modes[mode].timers.beginBatch(now: now, serial: serial)
    }

    mutating func takeNext(of batch: TimerBatch, in mode: Int) -> Firing? {
        guard let timer = modes[mode].timers.takeNext(of: batch) else { return nil }
        beginCall(timer, forDate: true)
        let missed = timer.core.series.fire(at: batch.now)
        return Firing(
            timer: timer,
            call: timer.core.call,
            missed: missed,
            isRepeating: timer.core.series.interval != nil
        )
    }

    /// Takes a timer out of its queues while its handler runs.
    mutating func beginCall(_ timer: UVRunLoop.Timer, forDate: Bool = false) {
        if !forDate || timer.core.hasOtherModes { unschedule(timer) }
        timer.core.callWillBegin(forDate: forDate)
        firing.append(timer)
    }

    /// Ends a call of a timer that is here still: decides what follows it.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - now: The time after the call; `nil` leaves a repeating timer's date as it is.
    /// - Returns: Whether the timer goes on; a one-shot timer is taken out of the loop.
    mutating func endCall(_ timer: UVRunLoop.Timer, now: Int64?) -> Bool {
        noteEnd(of: timer)
        timer.core.callDidEnd()
        guard timer.core.series.interval != nil else {
            remove(timer)
            return false
        }
        if let now, timer.core.awaitsNextDate {
            timer.core.series.advance(past: now)
            timer.core.serial = nextSerial()
        }
        schedule(timer)
        return true
    }

    /// A call that began here has ended, wherever the timer is now.
    mutating func noteEnd(of timer: UVRunLoop.Timer) {
        // As a rule it is the innermost, but a call by hand may end in another loop.
        if firing.last === timer {
            firing.removeLast()
        } else if let index = firing.lastIndex(where: { $0 === timer }) {
            firing.remove(at: index)
        }
    }
}

typealias TimerBatch = TimerQueue<UVRunLoop.Timer>.Batch
