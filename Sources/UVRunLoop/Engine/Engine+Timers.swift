// The engine's timers are in the queues of their modes. These methods require that the timer is in
// this loop; the caller has checked that under the loop's lock.

extension GenericEngine {
    /// A timer that was removed from its queues to be fired.
    struct Firing: ~Copyable {
        let timer: Items.Timer
    }

    // MARK: Modes

    // The paths of a timer in one mode are inlined: seven calls took 120 instructions on its way
    // into the mode. Those of common timers, and of timers in several modes, are not inlined.

    /// Adds a timer to a mode, or to every common one.
    @inline(__always)
    mutating func add(_ timer: Items.Timer, to mode: UVRunLoop.Mode) {
        if mode.isCommonName { return addToCommonModes(timer) }
        join(timer, modes.makeIndex(of: mode))
    }

    @inline(never)
    private mutating func addToCommonModes(_ timer: Items.Timer) {
        timer.core.isCommon = true
        for index in modes.common { join(timer, index) }
    }

    @inline(__always)
    private mutating func join(_ timer: Items.Timer, _ mode: Int) {
        if timerModes.isInAnyMode(timer), timerModes.heapSlot(of: timer, in: mode) != nil { return }
        // A run's view of the mode shows whether there are timers, not how many.
        if modes[mode].timerCount == 0 { renewVersion() }
        let slot = modes[mode].join(timer, serial: nextSerial())
        timerModes.insert(Membership(mode: mode, heapSlot: slot), of: timer)
    }

    /// Adds the timers that are recorded as common to a mode that has just become common, in the
    /// order in which they were scheduled.
    mutating func addCommonTimers(to index: Int) {
        var found: Set<ObjectIdentifier> = []
        let common =
            allTimers
            .filter { $0.core.isCommon && found.insert(ObjectIdentifier($0)).inserted }
            .map { ($0, serial(of: $0)) }
        for (timer, _) in common.sorted(by: { $0.1 < $1.1 }) { join(timer, index) }
    }

    /// The first of the serials that a timer has in its modes, or had in the last one.
    private func serial(of timer: Items.Timer) -> UInt64 {
        var first = timerModes.serialWithoutMode(of: timer) ?? .max
        timerModes.forEach(of: timer) {
            first = min(first, modes[$0.mode].timers.members.serial(of: $0.heapSlot))
        }
        return first
    }

    /// The timers of the loop; a timer in several modes occurs once for each.
    var allTimers: [Items.Timer] {
        var timers = Array(timerModes.commonWithoutMode.values)
        for mode in 0..<modes.count { timers += modes[mode].timers.members.all }
        return timers
    }

    /// Removes a timer from a mode, or a timer that was added to `.common` from every common mode.
    ///
    /// - Returns: Whether the timer is still in the loop.
    mutating func remove(_ timer: Items.Timer, from mode: UVRunLoop.Mode) -> Bool {
        let serial = serial(of: timer)
        if !mode.isCommonName {
            if let index = modes.index(of: mode) { leave(timer, index) }
        } else if timer.core.isCommon {
            timer.core.isCommon = false
            for index in modes.common { leave(timer, index) }
        }
        timerModes.retainIfWithoutMode(timer, serial: serial)
        return timer.core.isCommon || timerModes.isInAnyMode(timer)
    }

    /// Removes a timer from a mode.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - mode: The mode's index.
    private mutating func leave(_ timer: Items.Timer, _ mode: Int) {
        guard let membership = timerModes.remove(timer, from: mode) else { return }
        modes[mode].timers.keepTurn(of: membership.heapSlot)
        didLeave(membership)
    }

    /// Vacates a timer's slot in a mode; the caller holds a reference to the timer.
    @inline(__always)
    private mutating func didLeave(_ membership: Membership, isQueued: Bool = true) {
        modes[membership.mode].timerDidLeave(membership.heapSlot, isQueued: isQueued)
        if modes[membership.mode].timerCount == 0 { renewVersion() }
    }

    /// Removes a timer from the loop.
    ///
    /// - Parameters:
    ///   - timer: The timer, to which the caller holds a reference.
    ///   - isQueued: `false` if its call has just ended: then it is in no queue.
    @inline(__always)
    mutating func remove(_ timer: Items.Timer, isQueued: Bool = true) {
        guard timer.core.isInOneModeAtMost else { return removeFromManyModes(timer) }
        if let only = timerModes.removeFromOnlyMode(timer) { didLeave(only, isQueued: isQueued) }
    }

    @inline(never)
    private mutating func removeFromManyModes(_ timer: Items.Timer) {
        timerModes.removeFromEveryMode(timer).forEach { didLeave($0) }
        guard timer.core.isCommon else { return }
        timer.core.isCommon = false
        timerModes.forgetWithoutMode(timer)
    }

    func contains(_ timer: Items.Timer, in mode: UVRunLoop.Mode) -> Bool {
        if mode.isCommonName { return timer.core.isCommon }
        return modes.index(of: mode).flatMap { timerModes.heapSlot(of: timer, in: $0) } != nil
    }

    // MARK: Dates

    mutating func setDate(_ date: Int64, of timer: Items.Timer) {
        unschedule(timer)
        timer.restart(at: date)
        renewSerials(of: timer)
        schedule(timer)
    }

    mutating func setTolerance(_ tolerance: Int64, of timer: Items.Timer) {
        unschedule(timer)
        timer.setSlack(tolerance)
        schedule(timer)
    }

    /// Places a timer with a new date behind the timers that already have that date.
    private mutating func renewSerials(of timer: Items.Timer) {
        let serial = nextSerial()
        timerModes.forEach(of: timer) {
            modes[$0.mode].timers.members.setSerial(serial, of: $0.heapSlot)
        }
        if timer.core.isCommon { timerModes.retainIfWithoutMode(timer, serial: serial) }
    }

    private mutating func queue(_ timer: Items.Timer, _ slot: HeapSlot, in mode: Int) {
        modes[mode].timers.schedule(slot, date: timer.date, latest: timer.latest)
    }

    /// Queues the timer in all its modes, unless it is being called.
    mutating func schedule(_ timer: Items.Timer) {
        guard !timer.core.isBeingCalled else { return }
        timerModes.forEach(of: timer) { queue(timer, $0.heapSlot, in: $0.mode) }
    }

    /// Removes a timer from the queues; the batches that hold it keep its turns.
    private mutating func unschedule(_ timer: Items.Timer) {
        timerModes.forEach(of: timer) {
            modes[$0.mode].timers.keepTurn(of: $0.heapSlot)
            modes[$0.mode].timers.unschedule($0.heapSlot)
        }
    }

    /// The soonest date of a valid timer of the mode, timers that are being called included.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - isInLoop: Whether a timer is still in this loop; one that left it during its call may be
    ///     in another, whose lock guards its state.
    /// - Returns: The date; `nil` if the mode has no timer.
    func soonestDate(
        in mode: UVRunLoop.Mode,
        isInLoop: (Items.Timer) -> Bool
    ) -> Int64? {
        guard let index = modes.index(of: mode) else { return nil }
        let called = timersBeingCalled(in: index, isInLoop).map(\.date)
        return (called + [soonestQueued(in: index)].compactMap(\.self)).min()
    }

    /// The timers of a mode that are being called, which are in no queue.
    private func timersBeingCalled(
        in mode: Int,
        _ isInLoop: (Items.Timer) -> Bool
    ) -> [Items.Timer] {
        let count = modes[mode].timerCount - modes[mode].timers.queuedCount
        guard count > 0 else { return [] }
        let called = runningTimers.timers.filter {
            isInLoop($0) && timerModes.heapSlot(of: $0, in: mode) != nil
        }
        if Set(called.map(ObjectIdentifier.init)).count == count { return called }
        // The call of a timer that has joined since began in another loop, or in none.
        return modes[mode].timers.members.all.filter(\.core.isBeingCalled)
    }

    // MARK: Firing

    /// The soonest date of a queued timer of the mode.
    @inline(__always)
    func soonestQueued(in mode: Int) -> Int64? { modes[mode].timers.soonest }

    /// Begins a batch with the timers of the mode that are due.
    mutating func beginBatch(in mode: Int, now: Int64) {
        modes[mode].timers.beginBatch(now: now)
    }

    /// Ends the mode's innermost batch.
    ///
    /// - Returns: The timers it held, for the caller to release; `nil` if there are none.
    mutating func endBatch(in mode: Int) -> [Items.Timer]? { modes[mode].timers.endBatch() }

    /// Takes the next timer of the mode's innermost batch.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - clock: Returns the current time.
    ///   - isInLoop: Whether a timer is still in this loop. One that keeps its turn without being
    ///     queued may be in another by now, whose lock guards its state.
    /// - Returns: The timer; `nil` at the end of the batch.
    @inline(__always)
    mutating func takeNext(
        in mode: Int,
        _ clock: () -> Int64,
        isInLoop: (Items.Timer) -> Bool
    ) -> Firing? {
        let next =
            modes[mode].timers.hasDisplaced
            ? takeNextOrDisplaced(in: mode, clock, isInLoop) : modes[mode].timers.takeNext()
        guard let (timer, now) = next else { return nil }
        beginCall(timer, forDate: true)
        timer.accountForFire(at: now)
        return Firing(timer: timer)
    }

    private mutating func takeNextOrDisplaced(
        in mode: Int,
        _ clock: () -> Int64,
        _ isInLoop: (Items.Timer) -> Bool
    ) -> (member: Items.Timer, now: Int64)? {
        let timerModes = timerModes
        return modes[mode].timers.takeNextOrDisplaced(clock) { timer in
            isInLoop(timer) ? timerModes.heapSlot(of: timer, in: mode) : nil
        }
    }

    /// Removes a timer from its queues while its handler runs.
    @inline(__always)
    mutating func beginCall(_ timer: Items.Timer, forDate: Bool = false) {
        if !forDate || timer.core.hasModesElsewhere {
            unschedule(timer)
        }
        timer.core.callWillBegin(forDate: forDate)
        runningTimers.push(timer)
    }

    /// Ends the call of a timer that is still in the loop.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - now: The time after the call; `nil` leaves a repeating timer's date as it is.
    /// - Returns: Whether the timer repeats or is postponed; another one is removed from the loop.
    @inline(__always)
    mutating func endCall(_ timer: Items.Timer, now: Int64?) -> Bool {
        runningTimers.pop(timer)
        let hasNewDate = timer.endCall(now: now)
        guard timer.repeats || timer.core.takePostponement() else {
            remove(timer, isQueued: false)
            return false
        }
        scheduleAfterCall(timer, hasNewDate)
        return true
    }

    /// Queues a repeating timer for its next date, and a postponed one for its old one.
    @inline(never)
    mutating func scheduleAfterCall(_ timer: Items.Timer, _ hasNewDate: Bool) {
        if hasNewDate { renewSerials(of: timer) }
        schedule(timer)
    }
}
