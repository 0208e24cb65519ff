/// The mutable state of a timer.
///
/// It is stored in the timer itself, so a timer needs one lock and one allocation. The lock is that
/// of the loop that the timer is in (see ``ItemOwner``).
struct TimerCore {
    var series: FireSeries
    /// Nanoseconds.
    var tolerance: Int64
    /// Its slot in its only mode; of a timer in several, the engine stores them all.
    fileprivate(set) var membership = Membership.none
    /// The number of its calls on the stack; a timer that is being called is not queued.
    private(set) var callDepth: Int32 = 0
    /// Whether it was added to the common modes.
    var isCommon = false
    fileprivate(set) var isInManyModes = false
    /// Whether it is being called for its date, and has no next date yet.
    private(set) var awaitsNextDate = false
    /// Whether a one-shot timer is queued again after its call, for the same date.
    private var isPostponed = false

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

    /// Ends a call, and goes on to the next date.
    ///
    /// - Parameter now: The time after the call; `nil` leaves the date as it is.
    /// - Returns: Whether the date has changed.
    @discardableResult
    @inline(__always)
    mutating func endCall(now: Int64?) -> Bool {
        callDepth -= 1
        return now.map { advance(past: $0) } ?? false
    }

    mutating func postpone() { isPostponed = true }

    mutating func takePostponement() -> Bool { exchange(&isPostponed, with: false) }

    /// A date that was set in the handler is kept.
    private mutating func advance(past now: Int64) -> Bool {
        guard awaitsNextDate else { return false }
        series.advance(past: now)
        return true
    }

    mutating func restart(at date: Int64) {
        series.restart(at: date)
        awaitsNextDate = false
    }
}

/// The modes that a loop's timers are in.
///
/// A timer in one mode holds its membership itself, and whether it is common: with an
/// ``Attachment`` in it, a timer would take 16 bytes more.
struct TimerModes<Timer: TimerReference> {
    /// Those of the timers in several modes.
    private var attachments: [ObjectIdentifier: Attachment] = [:]
    /// Timers that were added to the common modes and are in none of them now.
    private(set) var commonWithoutMode: [ObjectIdentifier: Timer] = [:]
    /// For each of those, the lowest of the serial numbers that it had in the modes it left last.
    ///
    /// Apart, because to make one dictionary of both took 11,000 instructions for each loop.
    private var serialsWithoutMode: [ObjectIdentifier: UInt64] = [:]

    func serialWithoutMode(of timer: Timer) -> UInt64? {
        serialsWithoutMode.isEmpty ? nil : serialsWithoutMode[ObjectIdentifier(timer)]
    }

    func isInAnyMode(_ timer: Timer) -> Bool {
        timer.core.membership.exists || timer.core.isInManyModes
    }

    @inline(__always)
    func forEach(of timer: Timer, _ body: (Membership) -> Void) {
        if timer.core.isInManyModes { return attachment(of: timer).forEach(body) }
        if timer.core.membership.exists { body(timer.core.membership) }
    }

    func heapSlot(of timer: Timer, in mode: Int) -> HeapSlot? {
        if timer.core.isInManyModes { return attachment(of: timer).heapSlot(in: mode) }
        let only = timer.core.membership
        return only.exists && only.mode == mode ? only.heapSlot : nil
    }

    @inline(__always)
    mutating func insert(_ membership: Membership, of timer: Timer) {
        if isInAnyMode(timer) { return insertAnother(membership, of: timer) }
        timer.core.membership = membership
        if timer.core.isCommon { forgetWithoutMode(timer) }
    }

    private mutating func insertAnother(_ membership: Membership, of timer: Timer) {
        var attachment = attachment(of: timer)
        attachment.insert(membership)
        store(attachment, of: timer)
    }

    /// Removes a timer from a mode; returns its membership, if it was there.
    mutating func remove(_ timer: Timer, from mode: Int) -> Membership? {
        var attachment = attachment(of: timer)
        guard let left = attachment.remove(from: mode) else { return nil }
        store(attachment, of: timer)
        return left
    }

    /// Removes a timer that is not in several modes from the one it may be in.
    @inline(__always)
    mutating func removeFromOnlyMode(_ timer: Timer) -> Membership? {
        let only = timer.core.membership
        timer.core.membership = .none
        return only.exists ? only : nil
    }

    /// Removes a timer from all its modes; returns those.
    mutating func removeFromEveryMode(_ timer: Timer) -> Attachment {
        let left = attachment(of: timer)
        store(Attachment(), of: timer)
        return left
    }

    /// Retains a timer that is in no mode, but was added to the common modes; releases another.
    ///
    /// - Parameters:
    ///   - timer: The timer.
    ///   - serial: The serial number of its latest scheduling.
    mutating func retainIfWithoutMode(_ timer: Timer, serial: UInt64) {
        guard !isInAnyMode(timer) else { return }
        guard timer.core.isCommon else { return forgetWithoutMode(timer) }
        commonWithoutMode[ObjectIdentifier(timer)] = timer
        serialsWithoutMode[ObjectIdentifier(timer)] = serial
    }

    /// Releases a timer that has joined a mode, or left the common modes.
    mutating func forgetWithoutMode(_ timer: Timer) {
        guard !serialsWithoutMode.isEmpty else { return }
        commonWithoutMode[ObjectIdentifier(timer)] = nil
        serialsWithoutMode[ObjectIdentifier(timer)] = nil
    }

    private func attachment(of timer: Timer) -> Attachment {
        if timer.core.isInManyModes, let attachment = attachments[ObjectIdentifier(timer)] {
            return attachment
        }
        var attachment = Attachment()
        if timer.core.membership.exists { attachment.insert(timer.core.membership) }
        return attachment
    }

    private mutating func store(_ attachment: Attachment, of timer: Timer) {
        let isMany = attachment.isInManyModes
        if isMany || timer.core.isInManyModes {
            attachments[ObjectIdentifier(timer)] = isMany ? attachment : nil
        }
        timer.core.isInManyModes = isMany
        timer.core.membership = isMany ? .none : attachment.first
    }
}
