extension GenericEngine {
    /// Queues a port for an event that the kernel does not report.
    ///
    /// A port whose handler is running is queued when the call ends.
    ///
    /// - Parameters:
    ///   - ticket: The port.
    ///   - isOfPoll: Whether the latest poll has found the event.
    mutating func announce(_ ticket: Ticket, ofPoll isOfPoll: Bool = false) {
        let serial = isOfPoll ? latestPoll.serial : nextSerial()
        summary.mayHoldReady = true
        ports.modify(ticket, in: &modes) { $0.announce(at: serial, in: &$1) }
    }

    /// Whether a port of the mode is ready.
    @inline(__always)
    mutating func hasReadyPort(in mode: Int) -> Bool {
        !modes[mode].ready.isEmpty && firstReadyPort(in: mode) != nil
    }

    /// Whether a port of the mode is ready or expected to be.
    mutating func holdsTurn(in mode: Int) -> Bool {
        hasReadyPort(in: mode) || !modes[mode].ready.isEmpty
    }

    /// Whether the first port of the mode that has a turn is only expected to be ready.
    mutating func isFirstPortExpected(in mode: Int) -> Bool {
        !hasReadyPort(in: mode) && !modes[mode].ready.isEmpty
    }

    /// The first port, if it is ready; `nil` if it is only expected to be.
    ///
    /// Ends the turns of those before it that a poll has not found any more, because their data was
    /// read meanwhile.
    private mutating func firstReadyPort(in mode: Int) -> Ticket? {
        while let slot = modes[mode].ready.first?.slot, let ticket = modes[mode].ports[slot] {
            var isExpected = false
            let isReady = ports.modify(ticket, in: &modes) { record, modes in
                if record.isReady(modes) { return true }
                isExpected = record.isExpected
                if !isExpected { record.unqueue(in: &modes) }
                return false
            }
            if isReady == true { return ticket }
            if isExpected { return nil }
        }
        return nil
    }

    /// Whether the due timers of a mode come before its ready ports, if there are any.
    mutating func timersComeFirst(in mode: Int, _ prefersTimers: Bool) -> Bool {
        if hasReadyPort(in: mode) {
            return modes[mode].contest.timersComeFirst(prefersTimers)
        }
        modes[mode].contest.timersAreAlone()
        return true
    }

    /// Takes the first ready port of a mode.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - poll: The number of the loop's latest poll.
    /// - Returns: The delivery; `nil` if no port is ready.
    mutating func takeReadyPort(in mode: Int, after poll: Int64) -> Delivery? {
        guard let ticket = firstReadyPort(in: mode) else {
            updateMayHoldReady()
            return nil
        }
        var isPolled = false
        let delivery = ports.modify(ticket, in: &modes) { record, modes in
            isPolled = record.isPolled
            let events = record.undelivered(modes)
            record.unqueue(in: &modes)
            return record.beginCall(events, ticket)
        }
        if isPolled { expectations.recordServed(ticket, after: poll) }
        if modes[mode].ready.isEmpty { updateMayHoldReady() }
        return delivery
    }

    mutating func updateMayHoldReady() {
        summary.mayHoldReady = modes.mayContain { !$0.ready.isEmpty }
    }

    /// Ends the call of a port, which may then be served again, even if another loop began it.
    ///
    /// - Parameters:
    ///   - ticket: The port.
    ///   - hasMore: Whether it has more events that the kernel does not report.
    /// - Returns: Whether the port is still in this loop.
    mutating func endCall(of ticket: Ticket, hasMore: Bool = false) -> Bool {
        let serial = nextSerial()
        let hasAnnouncement = ports.modify(ticket) { record in
            record.endCall(at: serial)
            return record.hasAnnouncement
        }
        guard let hasAnnouncement else { return false }
        if hasMore || hasAnnouncement { announce(ticket) }
        requestWatch(ticket)
        return true
    }
}
