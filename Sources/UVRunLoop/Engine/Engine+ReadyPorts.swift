extension GenericEngine {
    /// Queues a port for an event that the kernel does not report.
    ///
    /// A port whose handler is running is queued when the call ends.
    ///
    /// - Parameters:
    ///   - ticket: The port.
    ///   - isOfPoll: Whether the latest poll has found the event.
    mutating func announce(_ ticket: Ticket, ofPoll isOfPoll: Bool = false) {
        let serial = isOfPoll ? foundAt(ticket) : nextSerial()
        summary.mayHoldReady = true
        ports.modify(ticket, in: &modes) { $0.announce(at: serial, in: &$1) }
    }

    /// The serial number at which the latest poll has found a port ready: that of the first skipped
    /// poll since it was served, which would have found it if it has stayed ready, or its own.
    @inline(__always)
    mutating func foundAt(_ ticket: Ticket) -> UInt64 {
        summary.holdsSkippedPolls
            ? placeOfSkippedPoll(ticket) ?? latestPoll.serial : latestPoll.serial
    }

    /// The serial number of the first poll that was skipped since a port was served; `nil` if there
    /// is none, or it would not have found the port even if that has stayed ready.
    @inline(never)
    mutating func placeOfSkippedPoll(_ ticket: Ticket) -> UInt64? {
        let served = ports.modify(ticket) { record in
            record.isPolled && record.isServable
                ? (at: record.servedAt, poll: record.servedPoll) : nil
        }
        guard let served = served ?? nil else { return nil }
        return skipped.first(after: served.at, since: served.poll)
    }

    /// Whether a port of the mode is ready.
    @inline(__always)
    mutating func hasReadyPort(in mode: Int) -> Bool {
        !modes[mode].ready.isEmpty && firstReadyPort(in: mode) != nil
    }

    /// Whether a port of the mode is ready, and no poll that was skipped would have found another
    /// one that comes before it.
    mutating func hasPortToServe(in mode: Int) -> Bool {
        guard let ticket = firstReadyPort(in: mode),
            let turn = modes[mode].ready.first?.turn
        else { return false }
        return skipped.areAfter(ticket, turn)
    }

    /// The first port that is ready; ends the turns of those that a poll has not found any more,
    /// because their data was read meanwhile.
    private mutating func firstReadyPort(in mode: Int) -> Ticket? {
        while let slot = modes[mode].ready.first?.slot {
            let ticket = ports.ticket(at: slot)
            let isFresh = ports.modify(ticket, in: &modes) { record, modes in
                if record.isReady(modes) { return true }
                record.unqueue(in: &modes)
                return false
            }
            if isFresh == true { return ticket }
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

    mutating func takeReadyPort(in mode: Int) -> Delivery? {
        guard let ticket = firstReadyPort(in: mode) else {
            updateMayHoldReady()
            return nil
        }
        var isPolled = false
        let poll = latestPoll.number
        let delivery = ports.modify(ticket, in: &modes) { record, modes in
            isPolled = record.isPolled
            let events = record.undelivered(modes)
            record.unqueue(in: &modes)
            return record.beginCall(events, ticket, poll: poll)
        }
        if isPolled { skipped.recordServed(ticket, after: poll) }
        if modes[mode].ready.isEmpty { updateMayHoldReady() }
        return delivery
    }

    private mutating func updateMayHoldReady() {
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
        let state = ports.modify(ticket) { record in
            record.endCall(at: serial)
            return (record.hasAnnouncement, record.interest)
        }
        guard let (hasAnnouncement, interest) = state else { return false }
        if hasMore || hasAnnouncement { announce(ticket) }
        requestWatch(interest, for: ticket)
        return true
    }
}
