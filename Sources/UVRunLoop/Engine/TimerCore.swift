/// The mutable state of a timer.
///
/// It is stored in the timer itself, so a timer needs one lock and one allocation. The lock is that
/// of the loop that the timer is in (see ``TimerOwner``).
struct TimerCore {
    var series: FireSeries
    /// Nanoseconds.
    var tolerance: Int64
    /// Its slot in the mode that it joined first; the engine stores the others.
    fileprivate(set) var membership = TimerMembership.none
    /// The number of its calls on the stack; a timer that is being called is not queued.
    private(set) var callDepth: Int32 = 0
    /// Whether it was added to the common modes.
    var isCommon = false
    /// Whether it is in more than one mode.
    fileprivate(set) var hasOtherModes = false
    /// Whether it is being called for its date, and has no next date yet.
    private(set) var awaitsNextDate = false

    @inline(__always)
    init(series: FireSeries, tolerance: Int64) {
        self.series = series
        self.tolerance = tolerance
    }

    var isBeingCalled: Bool { callDepth > 0 }

    var latest: Int64 { series.date.addingSaturating(tolerance) }

    mutating func callWillBegin(forDate: Bool) {
        if callDepth == 0 { awaitsNextDate = forDate }
        callDepth += 1
    }

    mutating func callDidEnd() { callDepth -= 1 }

    mutating func restart(at date: Int64) {
        series.restart(at: date)
        awaitsNextDate = false
    }

    /// Advances the date of a timer that leaves its loop in its own handler: the date it was called
    /// for has been handled.
    mutating func didLeave(now: Int64) {
        guard isBeingCalled, awaitsNextDate else { return }
        series.advance(past: now)
    }
}

/// A timer's slot in the queue of one mode.
struct TimerMembership {
    /// The mode's index; negative for none.
    var mode: Int32
    var slot: HeapSlot

    static let none = TimerMembership(mode: -1, slot: -1)
}

/// The modes of the timers that are in several modes.
struct TimerModes<Timer: TimerReference> {
    /// All but the first mode of each timer.
    private var others: [ObjectIdentifier: [TimerMembership]] = [:]
    /// Timers that were added to the common modes and are in none of them now.
    private(set) var unplaced: [ObjectIdentifier: Timer] = [:]

    func forEach(of timer: Timer, _ body: (TimerMembership) -> Void) {
        guard timer.core.membership.mode >= 0 else { return }
        body(timer.core.membership)
        guard timer.core.hasOtherModes else { return }
        for other in others[ObjectIdentifier(timer)] ?? [] { body(other) }
    }

    func slot(of timer: Timer, in mode: Int) -> HeapSlot? {
        if timer.core.membership.mode == mode { return timer.core.membership.slot }
        guard timer.core.hasOtherModes else { return nil }
        return others[ObjectIdentifier(timer)]?.first { $0.mode == mode }?.slot
    }

    func isInAnyMode(_ timer: Timer) -> Bool { timer.core.membership.mode >= 0 }

    @inline(__always)
    mutating func insert(_ membership: TimerMembership, of timer: Timer) {
        guard !isInAnyMode(timer) else { return insertOther(membership, of: timer) }
        timer.core.membership = membership
        if timer.core.isCommon { unplaced[ObjectIdentifier(timer)] = nil }
    }

    private mutating func insertOther(_ membership: TimerMembership, of timer: Timer) {
        others[ObjectIdentifier(timer), default: []].append(membership)
        timer.core.hasOtherModes = true
    }

    /// Removes a timer that is in no more than one mode from it; returns its membership.
    @inline(__always)
    mutating func removeFromOnlyMode(_ timer: Timer) -> TimerMembership? {
        let only = timer.core.membership
        timer.core.membership = .none
        return only.mode >= 0 ? only : nil
    }

    /// Removes a timer from a mode; returns its membership.
    mutating func remove(_ timer: Timer, from mode: Int) -> TimerMembership? {
        let first = timer.core.membership
        guard timer.core.hasOtherModes else {
            guard first.mode == mode else { return nil }
            timer.core.membership = .none
            return first
        }
        var rest = others[ObjectIdentifier(timer)] ?? []
        let left: TimerMembership
        if first.mode == mode, let next = rest.popLast() {
            timer.core.membership = next
            left = first
        } else {
            guard let index = rest.firstIndex(where: { $0.mode == mode }) else { return nil }
            left = rest.remove(at: index)
        }
        others[ObjectIdentifier(timer)] = rest.isEmpty ? nil : rest
        timer.core.hasOtherModes = !rest.isEmpty
        return left
    }

    mutating func setCommon(_ isCommon: Bool, _ timer: Timer) {
        timer.core.isCommon = isCommon
        noteUnplaced(timer)
    }

    /// Retains a timer that is in no mode, but was added to the common modes.
    mutating func noteUnplaced(_ timer: Timer) {
        guard !isInAnyMode(timer) else { return }
        unplaced[ObjectIdentifier(timer)] = timer.core.isCommon ? timer : nil
    }
}
