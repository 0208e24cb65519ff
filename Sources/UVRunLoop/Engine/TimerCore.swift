/// What changes about a timer.
///
/// It lies in the timer itself, so that one lock and one piece of memory are all that a timer
/// costs; the lock is that of the loop which the timer is in (see ``TimerOwner``).
struct TimerCore {
    var series: FireSeries
    /// Nanoseconds.
    var tolerance: Int64
    /// Where it is queued in the mode that it joined first; the engine knows the other ones.
    fileprivate(set) var membership = TimerMembership.none
    /// How many of its calls are on the stack; a timer that is being called is in no queue.
    private(set) var callDepth: Int32 = 0
    /// It was added to the common modes.
    var isCommon = false
    /// It is in more modes than one.
    fileprivate(set) var hasOtherModes = false
    /// It is being called for its date, and has not got the next one yet.
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

    /// A handler that takes its own timer out has seen to the date it was called for.
    mutating func didLeave(now: Int64) {
        guard isBeingCalled, awaitsNextDate else { return }
        series.advance(past: now)
    }
}

/// A timer's place in one mode's queue.
struct TimerMembership {
    /// The mode's index; negative for none.
    var mode: Int32
    var slot: HeapSlot

    static let none = TimerMembership(mode: -1, slot: -1)
}

/// The modes of timers that are in several.
struct TimerModes<Timer: TimerReference> {
    /// All but the first mode of each.
    private var others: [ObjectIdentifier: [TimerMembership]] = [:]
    /// Those that were added to the common modes and have been taken out of every one since.
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

    /// Takes a timer out of a mode; answers where it was.
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

    /// Keeps a timer that is in no mode but was added to the common ones.
    mutating func noteUnplaced(_ timer: Timer) {
        guard !isInAnyMode(timer) else { return }
        unplaced[ObjectIdentifier(timer)] = timer.core.isCommon ? timer : nil
    }
}
