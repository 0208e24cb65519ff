/// The modes that a loop's timers are in.
///
/// A timer in one mode holds its membership itself, and whether it is common: with an
/// ``Attachment`` in it, a timer would take 18 bytes more.
struct TimerModes<Timer: TimerReference> {
    /// Those of the timers that do not hold theirs.
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
        timer.core.membership.exists || timer.core.hasModesElsewhere
    }

    @inline(__always)
    func forEach(of timer: Timer, _ body: (Membership) -> Void) {
        if timer.core.hasModesElsewhere { return attachment(of: timer).forEach(body) }
        if timer.core.membership.exists { body(timer.core.membership) }
    }

    func heapSlot(of timer: Timer, in mode: Int) -> HeapSlot? {
        if timer.core.hasModesElsewhere { return attachment(of: timer).heapSlot(in: mode) }
        let only = timer.core.membership
        return only.exists && only.mode == mode ? only.heapSlot : nil
    }

    @inline(__always)
    mutating func insert(_ membership: Membership, of timer: Timer) {
        if isInAnyMode(timer) || !TimerCore.hasRoom(for: membership) {
            return insertAnother(membership, of: timer)
        }
        timer.core.membership = membership
        if timer.core.isCommon { forgetWithoutMode(timer) }
    }

    private mutating func insertAnother(_ membership: Membership, of timer: Timer) {
        var attachment = attachment(of: timer)
        attachment.insert(membership)
        store(attachment, of: timer)
        if timer.core.isCommon { forgetWithoutMode(timer) }
    }

    /// Removes a timer from a mode; returns its membership, if it was there.
    mutating func remove(_ timer: Timer, from mode: Int) -> Membership? {
        var attachment = attachment(of: timer)
        guard let left = attachment.remove(from: mode) else { return nil }
        store(attachment, of: timer)
        return left
    }

    /// Removes a timer that holds its membership itself from the mode that it may be in.
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
        if timer.core.hasModesElsewhere, let attachment = attachments[ObjectIdentifier(timer)] {
            return attachment
        }
        var attachment = Attachment()
        if timer.core.membership.exists { attachment.insert(timer.core.membership) }
        return attachment
    }

    private mutating func store(_ attachment: Attachment, of timer: Timer) {
        let isElsewhere =
            attachment.isInManyModes || !TimerCore.hasRoom(for: attachment.first)
        if isElsewhere || timer.core.hasModesElsewhere {
            attachments[ObjectIdentifier(timer)] = isElsewhere ? attachment : nil
        }
        timer.core.hasModesElsewhere = isElsewhere
        timer.core.membership = isElsewhere ? .none : attachment.first
    }
}
