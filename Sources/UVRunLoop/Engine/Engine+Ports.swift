extension GenericEngine {
    typealias Events = UVRunLoop.DescriptorEvents

    mutating func insert(_ port: Items.Port) -> Ticket {
        let serial = nextSerial()
        let ticket = ports.insert(PortRecord(port: port, serial: serial))
        if let descriptor = port.descriptor {
            descriptors.insert(ticket, for: descriptor, serial: serial)
            for other in descriptors[descriptor]?.sources ?? [] where other != ticket {
                watchAgain(other)
            }
        }
        return ticket
    }

    mutating func add(_ ticket: Ticket, portTo mode: UVRunLoop.Mode) {
        renewVersion()
        ports.modify(ticket) { $0.hasHungUp = false }
        _ = ports.add(ticket, to: mode, in: &modes)
        watchAgain(ticket)
        if ports[ticket]?.hasAnnouncement == true { announce(ticket) }
    }

    /// Removes a port from a mode; returns its record if the loop no longer needs it.
    mutating func remove(_ ticket: Ticket, portFrom mode: UVRunLoop.Mode) -> PortRecord<Items>? {
        renewVersion()
        _ = ports.remove(ticket, from: mode, in: &modes)
        guard let dropped = ports.dropIfUnused(ticket) else { return nil }
        forgetDescriptor(of: dropped, ticket)
        return dropped
    }

    /// Removes a port from the loop.
    mutating func removePort(_ ticket: Ticket) -> PortRecord<Items>? {
        renewVersion()
        guard let found = ports.removeEverywhere(ticket, in: &modes) else { return nil }
        forgetDescriptor(of: found.record, ticket)
        return found.record
    }

    /// Returns the ports of a mode.
    func ports(in mode: UVRunLoop.Mode) -> [Items.Port] {
        ports.tickets.compactMap { ticket in
            ports.contains(ticket, in: mode, of: modes) ? ports[ticket]?.port : nil
        }
    }

    private mutating func forgetDescriptor(of record: PortRecord<Items>, _ ticket: Ticket) {
        if let descriptor = record.descriptor { descriptors.remove(ticket, from: descriptor) }
    }

    /// Changes the events that a port waits for, and enables it again after a hang-up.
    mutating func setEvents(_ events: Events, of ticket: Ticket) {
        guard let record = ports[ticket], let descriptor = record.descriptor else { return }
        renewVersion()
        ports.modify(ticket) { record in
            record.events = events
            record.hasHungUp = false
        }
        if record.events.isSubset(of: events) {
            watchAgain(ticket)
        } else {
            // An event that is no longer wanted but still reported would wake the loop needlessly.
            markUnwatched(descriptor)
        }
    }

    /// Marks a port's descriptor as unwatched in the port's modes, unless the kernel reports all that
    /// the port can be served.
    ///
    /// Called after every change by which the kernel reports less, or the port waits for more. The
    /// next run in such a mode has the kernel watch it.
    mutating func watchAgain(_ ticket: Ticket) {
        if let interest = ports.modify(ticket, { $0.interest }) { watch(interest, for: ticket) }
    }

    private mutating func watch(_ interest: PortRecord<Items>.Interest, for ticket: Ticket) {
        guard let descriptor = interest.descriptor,
            !descriptors.isArmed(descriptor, for: interest.events)
        else { return }
        ports.modify(ticket, in: &modes) { record, modes in
            record.attachment.forEach { modes[$0.mode].unwatched.insert(descriptor) }
        }
        summary.mayHoldUnwatched = true
    }

    /// Sets whether a port keeps its modes from being empty, which ports do at first.
    mutating func setKeepsModes(_ keepsModes: Bool, _ ticket: Ticket) {
        renewVersion()
        ports.modify(ticket, in: &modes) { record, modes in
            guard record.keepsModes != keepsModes else { return }
            record.keepsModes = keepsModes
            let difference = keepsModes ? -1 : 1
            let attachment = record.attachment
            attachment.forEach { modes[$0.mode].idlePortCount += difference }
        }
    }

    // MARK: Watching

    /// Returns what the kernel must watch before a run in the mode polls or sleeps.
    mutating func takeWatchOrders(for mode: Int) -> [WatchOrder] {
        guard summary.mayHoldUnwatched else { return [] }
        defer {
            modes[mode].unwatched.removeAll(keepingCapacity: true)
            summary.mayHoldUnwatched = modes.mayContain { !$0.unwatched.isEmpty }
        }
        return modes[mode].unwatched.compactMap { descriptor in
            guard let group = descriptors[descriptor] else { return nil }
            let wanted = interest(of: group, in: mode)
            guard !wanted.isEmpty, !(group.armed?.isSuperset(of: wanted) ?? false) else {
                return nil
            }
            let events = wanted.union(group.armed ?? [])
            descriptors.setArmed(events, for: descriptor)
            clearUnwatched(beside: mode, met: events, of: group, descriptor)
            return WatchOrder(
                descriptor: descriptor,
                registration: group.registration,
                events: events
            )
        }
    }

    /// Unmarks the descriptor in other modes that need no more than the kernel reports now.
    private mutating func clearUnwatched(
        beside mode: Int,
        met events: Events,
        of group: DescriptorTable.Group,
        _ descriptor: CInt
    ) {
        for ticket in group.sources {
            ports[ticket]?.attachment.forEach { other in
                guard other.mode != mode, modes[other.mode].unwatched.contains(descriptor),
                    interest(of: group, in: other.mode).isSubset(of: events)
                else { return }
                modes[other.mode].unwatched.remove(descriptor)
            }
        }
    }

    /// Whether an order is still valid; another thread may have changed the descriptor meanwhile.
    func isCurrent(_ order: WatchOrder) -> Bool {
        descriptors[order.descriptor]?.registration == order.registration
    }

    private func interest(of group: DescriptorTable.Group, in mode: Int) -> Events {
        group.sources.reduce([]) { $0.union(ports[$1]?.interest(in: mode) ?? []) }
    }

    /// Queues a refusal for the mode's sources of a descriptor that cannot be watched.
    ///
    /// Sources in other modes get theirs when a run in such a mode is refused.
    mutating func refuse(_ order: WatchOrder, _ error: UVError, in mode: Int) {
        guard let group = descriptors[order.descriptor], isCurrent(order) else { return }
        descriptors.setArmed(nil, for: order.descriptor)
        let poll = latestPoll
        summary.mayHoldReady = true
        for ticket in group.sources {
            let isServed = ports.modify(ticket, in: &modes) { record, modes in
                guard record.canBeRefused(in: mode) else { return false }
                record.queue(error, poll: poll, in: &modes, mode)
                return true
            }
            if isServed == false { watchAgain(ticket) }
        }
    }

    // MARK: Reports

    /// The result of recording a report.
    enum ReportOutcome {
        /// The mode's run can serve at least one source.
        case isForRun
        case isForNobody
        /// The run was woken for sources that it cannot serve; the order masks them.
        case rearm(WatchOrder)
    }

    /// Records what the kernel reported about a descriptor, for each source that the mode's run can
    /// serve.
    mutating func record(_ report: ReadyReport, in mode: Int) -> ReportOutcome {
        let descriptor = report.descriptor
        guard descriptors.registration(of: descriptor) == report.registration else {
            return .rearm(
                WatchOrder(
                    descriptor: descriptor,
                    registration: report.registration,
                    events: nil
                )
            )
        }
        summary.mayHoldReady = true
        var isForRun = false
        for index in 0..<descriptors.sourceCount(of: descriptor) {
            let ticket = descriptors.source(index, of: descriptor)
            if queue(ticket, report, in: mode) { isForRun = true }
        }
        if report.details.contains(.unwatched) {
            markUnwatched(descriptor)
        } else if !isForRun, let order = maskUnserved(descriptor, for: mode) {
            return .rearm(order)
        }
        return isForRun ? .isForRun : .isForNobody
    }

    /// Takes a source for delivery without queuing it, if its report is all there is to serve in
    /// the mode.
    ///
    /// - Parameters:
    ///   - report: The only report of this poll.
    ///   - mode: The mode.
    ///   - now: The current time; ignored for a mode without timers.
    /// - Returns: The delivery; `nil` if the source has to be queued.
    mutating func takeSoleReadyPort(_ report: ReadyReport, in mode: Int, now: Int64) -> Delivery? {
        guard !report.details.contains(.unwatched), modes[mode].ready.isEmpty,
            descriptors.registration(of: report.descriptor) == report.registration,
            descriptors.sourceCount(of: report.descriptor) == 1
        else { return nil }
        if modes[mode].timerCount > 0, let soonest = soonestQueued(in: mode), soonest <= now {
            return nil
        }
        let ticket = descriptors.source(0, of: report.descriptor)
        let serial = nextSerial()
        let delivery: Delivery? =
            ports.modify(ticket) { record in
                guard !record.isWaiting, !record.interest(in: mode).isEmpty else { return nil }
                let events = record.events(of: report)
                return events.isEmpty ? nil : record.beginCall(events, ticket, serial)
            } ?? nil
        if delivery != nil {
            recordServed(ticket)
            if modes[mode].timerCount > 0 { modes[mode].contest.portIsAlone() }
        }
        return delivery
    }

    /// Marks a descriptor as not watched, so that runs that can serve its sources watch it again.
    ///
    /// Its kernel registration is gone or out of date.
    mutating func markUnwatched(_ descriptor: CInt) {
        descriptors.setArmed(nil, for: descriptor)
        for ticket in descriptors[descriptor]?.sources ?? [] { watchAgain(ticket) }
    }

    /// Records that the driver has stopped to watch a descriptor.
    mutating func recordLoss(_ report: ReadyReport) {
        guard descriptors.registration(of: report.descriptor) == report.registration else { return }
        markUnwatched(report.descriptor)
    }

    /// Limits the events of a descriptor that the kernel has reported to what the mode's run can
    /// serve; other modes restore theirs when they run.
    private mutating func maskUnserved(_ descriptor: CInt, for mode: Int) -> WatchOrder? {
        guard let group = descriptors[descriptor] else { return nil }
        let wanted = interest(of: group, in: mode)
        let events = wanted.isEmpty ? nil : wanted
        // What the kernel has reported is in the epoll set, whatever is armed.
        guard events == nil || events != group.armed else { return nil }
        descriptors.setArmed(events, for: descriptor)
        for ticket in group.sources { watchAgain(ticket) }
        return WatchOrder(
            descriptor: descriptor,
            registration: group.registration,
            events: events
        )
    }

    /// Queues an event for a port, if the mode's run can serve it and the port waits for the event.
    private mutating func queue(_ ticket: Ticket, _ report: ReadyReport, in mode: Int) -> Bool {
        let poll = latestPoll
        return ports.modify(ticket, in: &modes) { record, modes in
            guard !record.interest(in: mode).isEmpty else { return false }
            let events = record.events(of: report)
            guard !events.isEmpty else { return false }
            record.queue(events, poll: poll, in: &modes, mode)
            return true
        } ?? false
    }

    /// Queues a port for an event that the kernel does not report.
    ///
    /// A port whose handler is running is queued when the call ends.
    ///
    /// - Parameters:
    ///   - ticket: The port.
    ///   - isOfPoll: Whether the latest poll has found the event.
    mutating func announce(_ ticket: Ticket, ofPoll isOfPoll: Bool = false) {
        let serial = nextSerial()
        let poll = latestPoll
        summary.mayHoldReady = true
        ports.modify(ticket, in: &modes) { record, modes in
            record.hasAnnouncement = true
            guard !record.isBeingCalled else { return }
            record.queueAnnouncement(at: isOfPoll ? record.serial(in: poll) : serial, in: &modes)
        }
    }

    /// Whether a port of the mode is ready, according to a poll or a later one.
    @inline(__always)
    mutating func hasReadyPort(in mode: Int, since poll: Int64) -> Bool {
        !modes[mode].ready.isEmpty && firstReadyPort(in: mode, since: poll) != nil
    }

    /// Whether a port of the mode is ready, and no poll that was skipped would have found another
    /// one that comes before it.
    mutating func hasPortToServe(in mode: Int, since poll: Int64) -> Bool {
        guard let ticket = firstReadyPort(in: mode, since: poll),
            let turn = modes[mode].ready.firstTurn
        else { return false }
        return latestPoll.isBeforeSkipped(ticket, turn)
    }

    /// Skips ports that only an earlier poll found ready: their data was read meanwhile.
    private mutating func firstReadyPort(in mode: Int, since poll: Int64) -> Ticket? {
        while let slot = modes[mode].ready.first {
            let ticket = ports.ticket(at: slot)
            let isFresh = ports.modify(ticket, in: &modes) { record, modes in
                if record.hasAnnouncement || record.poll >= poll || record.hasRefusal {
                    return true
                }
                record.unqueue(in: &modes)
                return false
            }
            if isFresh == true { return ticket }
        }
        return nil
    }

    // MARK: Serving

    /// Whether the due timers of a mode come before its ready ports, if there are any.
    mutating func timersComeFirst(in mode: Int, since poll: Int64, _ prefersTimers: Bool) -> Bool {
        if hasReadyPort(in: mode, since: poll) {
            return modes[mode].contest.timersComeFirst(prefersTimers)
        }
        modes[mode].contest.timersAreAlone()
        return true
    }

    mutating func takeReadyPort(in mode: Int, since poll: Int64) -> Delivery? {
        guard let ticket = firstReadyPort(in: mode, since: poll) else {
            updateMayHoldReady()
            return nil
        }
        let serial = nextSerial()
        var isPolled = false
        let delivery = ports.modify(ticket, in: &modes) { record, modes in
            isPolled = record.isPolled
            let isFresh = record.poll >= poll || record.hasRefusal
            let events = isFresh ? record.pendingEvents : []
            record.unqueue(in: &modes)
            return record.beginCall(events, ticket, serial)
        }
        if isPolled { recordServed(ticket) }
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
        let state = ports.modify(ticket) { record in
            record.port.isBeingCalled = false
            return (record.hasAnnouncement, record.interest)
        }
        guard let (hasAnnouncement, interest) = state else { return false }
        if hasMore || hasAnnouncement { announce(ticket) }
        watch(interest, for: ticket)
        return true
    }
}
