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

    /// Adds a port to a mode.
    ///
    /// - Parameters:
    ///   - ticket: The port.
    ///   - mode: The mode.
    ///   - isReady: Whether something waits for it that the kernel does not know of.
    mutating func add(_ ticket: Ticket, portTo mode: UVRunLoop.Mode, isReady: Bool = false) {
        renewVersion()
        ports.modify(ticket) { $0.isOff = false }
        _ = ports.add(ticket, to: mode, in: &modes)
        watchAgain(ticket)
        if isReady || ports[ticket]?.hasAnnouncement == true { announce(ticket) }
    }

    /// Takes a port out of a mode; answers its record when nothing keeps it here any more.
    mutating func remove(_ ticket: Ticket, portFrom mode: UVRunLoop.Mode) -> PortRecord<Items>? {
        renewVersion()
        _ = ports.remove(ticket, from: mode, in: &modes)
        guard let dropped = ports.dropIfUnused(ticket) else { return nil }
        forgetDescriptor(of: dropped, ticket)
        return dropped
    }

    /// Takes a port out of the loop.
    mutating func removePort(_ ticket: Ticket) -> PortRecord<Items>? {
        renewVersion()
        guard let found = ports.removeEverywhere(ticket, in: &modes) else { return nil }
        forgetDescriptor(of: found.record, ticket)
        return found.record
    }

    /// The ports of a mode.
    func ports(in mode: UVRunLoop.Mode) -> [Items.Port] {
        ports.tickets.compactMap { ticket in
            ports.contains(ticket, in: mode, of: modes) ? ports[ticket]?.port : nil
        }
    }

    private mutating func forgetDescriptor(of record: PortRecord<Items>, _ ticket: Ticket) {
        if let descriptor = record.descriptor { descriptors.remove(ticket, from: descriptor) }
    }

    /// Changes what a port asks the kernel for; one that was told of a hang-up is on again.
    mutating func setEvents(_ events: Events, of ticket: Ticket) {
        guard let record = ports[ticket], let descriptor = record.descriptor else { return }
        renewVersion()
        ports.modify(ticket) { record in
            record.events = events
            record.isOff = false
        }
        if record.events.isSubset(of: events) {
            watchAgain(ticket)
        } else {
            // Asked for no longer but still reported, it would wake the loop in vain.
            markUnwatched(descriptor)
        }
    }

    /// Has the next run that may serve the port make sure that the kernel watches for it.
    ///
    /// As a rule it does, and whoever makes it watch for less calls this anew.
    mutating func watchAgain(_ ticket: Ticket) {
        if let wish = ports.modify(ticket, { $0.wish }) { watch(wish, for: ticket) }
    }

    private mutating func watch(_ wish: PortRecord<Items>.Wish, for ticket: Ticket) {
        guard let descriptor = wish.descriptor, !descriptors.isArmed(descriptor, for: wish.events)
        else { return }
        ports.modify(ticket, in: &modes) { record, modes in
            record.attachment.forEach { modes[$0.mode].unwatched.insert(descriptor) }
        }
        mayHoldUnwatched = true
    }

    /// Has a port keep its modes from being empty, as ports do at first, or no longer.
    mutating func setKeepsModes(_ keepsModes: Bool, _ ticket: Ticket) {
        renewVersion()
        ports.modify(ticket, in: &modes) { record, modes in
            guard record.isIdle == keepsModes else { return }
            record.isIdle = !keepsModes
            let difference = keepsModes ? -1 : 1
            let attachment = record.attachment
            attachment.forEach { modes[$0.mode].idlePortCount += difference }
        }
    }

    // MARK: Watching

    /// What the kernel has to be asked before a run in the mode looks or sleeps.
    mutating func takeWatchOrders(for mode: Int) -> [WatchOrder] {
        guard mayHoldUnwatched else { return [] }
        defer {
            modes[mode].unwatched.removeAll(keepingCapacity: true)
            mayHoldUnwatched = modes.anyOfFew { !$0.unwatched.isEmpty }
        }
        return modes[mode].unwatched.compactMap { descriptor in
            guard let group = descriptors[descriptor] else { return nil }
            let wanted = interest(of: group, in: mode)
            guard !wanted.isEmpty, !(group.armed?.isSuperset(of: wanted) ?? false) else {
                return nil
            }
            let events = wanted.union(group.armed ?? [])
            descriptors.setArmed(events, for: descriptor)
            forgetWishes(beside: mode, met: events, of: group, descriptor)
            return WatchOrder(
                descriptor: descriptor,
                registration: group.registration,
                events: events
            )
        }
    }

    /// Other modes need not ask for what the kernel reports already.
    private mutating func forgetWishes(
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

    /// Whether an order is still what the loop wants, now that another thread had time to change
    /// it.
    func isCurrent(_ order: WatchOrder) -> Bool {
        descriptors[order.descriptor]?.registration == order.registration
    }

    private func interest(of group: DescriptorTable.Group, in mode: Int) -> Events {
        group.sources.reduce([]) { $0.union(ports[$1]?.interest(in: mode) ?? []) }
    }

    /// The kernel would not watch a descriptor: each of its sources gets one last call.
    mutating func refuse(_ order: WatchOrder, in mode: Int) {
        guard let group = descriptors[order.descriptor], isCurrent(order) else { return }
        descriptors.setArmed(nil, for: order.descriptor)
        let poll = latestPoll
        mayHoldReady = true
        for ticket in group.sources {
            let isServed = ports.modify(ticket, in: &modes) { record, modes in
                guard !record.interest(in: mode).isEmpty else { return false }
                record.isRefused = true
                record.queue(.hangUp, poll: poll, in: &modes, mode)
                return true
            }
            if isServed == false { watchAgain(ticket) }
        }
    }

    // MARK: Readiness

    /// What became of the kernel's report about a descriptor.
    enum ReportOutcome {
        /// A source that the mode's run may serve is among the ready ones.
        case isForRun
        case isForNobody
        /// It woke the run for sources that must wait: this is what to ask of it instead.
        case rearm(WatchOrder)
    }

    /// Notes what the kernel reported about a descriptor, for every source that the mode's run may
    /// serve.
    mutating func record(_ report: Readiness, in mode: Int) -> ReportOutcome {
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
        mayHoldReady = true
        var isForRun = false
        for index in 0..<descriptors.sourceCount(of: descriptor) {
            let ticket = descriptors.source(index, of: descriptor)
            if queue(ticket, report, in: mode) { isForRun = true }
        }
        if report.isUnwatched {
            markUnwatched(descriptor)
        } else if !isForRun, let order = reduce(descriptor, for: mode) {
            return .rearm(order)
        }
        return isForRun ? .isForRun : .isForNobody
    }

    /// Takes a source for delivery without a place in the line, when what the kernel reported of
    /// its descriptor is all that there is to serve in the mode.
    ///
    /// - Parameters:
    ///   - report: What the kernel reported, and nothing else in this look.
    ///   - mode: The mode.
    ///   - now: The time; without meaning for a mode without timers.
    /// - Returns: What to deliver; `nil` when the source has to wait for its turn.
    mutating func takeSoleReadyPort(_ report: Readiness, in mode: Int, now: Int64) -> Delivery? {
        guard !report.isUnwatched, modes[mode].ready.isEmpty,
            descriptors.registration(of: report.descriptor) == report.registration,
            descriptors.sourceCount(of: report.descriptor) == 1
        else { return nil }
        if modes[mode].timerCount > 0, let soonest = modes[mode].timers.soonest, soonest <= now {
            return nil
        }
        let ticket = descriptors.source(0, of: report.descriptor)
        let serial = nextSerial()
        return ports.modify(ticket) { record in
            guard !record.isWaiting, !record.interest(in: mode).isEmpty else { return nil }
            let events = record.events(of: report)
            return events.isEmpty ? nil : record.beginCall(events, ticket, serial)
        } ?? nil
    }

    /// Has the kernel asked again for all that a descriptor's sources want: it watches for none of
    /// it.
    mutating func markUnwatched(_ descriptor: CInt) {
        descriptors.setArmed(nil, for: descriptor)
        for ticket in descriptors[descriptor]?.sources ?? [] { watchAgain(ticket) }
    }

    /// Leaves with the kernel only what the running mode can serve; other modes ask again when
    /// they run.
    private mutating func reduce(_ descriptor: CInt, for mode: Int) -> WatchOrder? {
        guard let group = descriptors[descriptor] else { return nil }
        let wanted = interest(of: group, in: mode)
        let events = wanted.isEmpty ? nil : wanted
        guard events != group.armed else { return nil }
        descriptors.setArmed(events, for: descriptor)
        for ticket in group.sources { watchAgain(ticket) }
        return WatchOrder(
            descriptor: descriptor,
            registration: group.registration,
            events: events
        )
    }

    /// Notes an event for a port, if the mode's run may serve it and the event is one for it.
    private mutating func queue(_ ticket: Ticket, _ report: Readiness, in mode: Int) -> Bool {
        let poll = latestPoll
        return ports.modify(ticket, in: &modes) { record, modes in
            guard !record.interest(in: mode).isEmpty else { return false }
            let events = record.events(of: report)
            guard !events.isEmpty else { return false }
            record.queue(events, poll: poll, in: &modes, mode)
            return true
        } ?? false
    }

    /// Notes that a port has something which the kernel does not know of.
    ///
    /// One that is being called waits for the end of the call.
    mutating func announce(_ ticket: Ticket) {
        let serial = nextSerial()
        mayHoldReady = true
        ports.modify(ticket, in: &modes) { record, modes in
            record.hasAnnouncement = true
            if !record.isBeingCalled { record.queueAnnouncement(at: serial, in: &modes) }
        }
    }

    /// Whether a port of the mode is ready, as far as the latest look knows.
    mutating func hasReadyPort(in mode: Int) -> Bool {
        firstReadyPort(in: mode) != nil
    }

    /// Passes over what an earlier look saw and the latest did not: it has been used up meanwhile.
    private mutating func firstReadyPort(in mode: Int) -> Ticket? {
        let poll = pollNumber
        while let slot = modes[mode].ready.first {
            let ticket = ports.ticket(at: slot)
            let isFresh = ports.modify(ticket, in: &modes) { record, modes in
                if record.hasAnnouncement || record.poll == poll || record.isRefused { return true }
                record.unqueue(in: &modes)
                return false
            }
            if isFresh == true { return ticket }
        }
        return nil
    }

    // MARK: Serving

    mutating func takeReadyPort(in mode: Int) -> Delivery? {
        guard let ticket = firstReadyPort(in: mode) else {
            updateMayHoldReady()
            return nil
        }
        let serial = nextSerial()
        let poll = pollNumber
        let delivery = ports.modify(ticket, in: &modes) { record, modes in
            let isFresh = record.poll == poll || record.isRefused
            let events = isFresh ? record.pendingEvents : []
            record.unqueue(in: &modes)
            return record.beginCall(events, ticket, serial)
        }
        if modes[mode].ready.isEmpty { updateMayHoldReady() }
        return delivery
    }

    private mutating func updateMayHoldReady() {
        mayHoldReady = modes.anyOfFew { !$0.ready.isEmpty }
    }

    /// Ends a call of a port that is here still, which then may be served again.
    ///
    /// - Parameters:
    ///   - ticket: The port.
    ///   - hasMore: Whether it has more that the kernel does not know of.
    /// - Returns: Whether it is here.
    mutating func endCall(of ticket: Ticket, hasMore: Bool = false) -> Bool {
        let state = ports.modify(ticket) { record in
            record.endCall()
            return (record.hasAnnouncement, record.wish)
        }
        guard let (hasAnnouncement, wish) = state else { return false }
        if hasMore || hasAnnouncement { announce(ticket) }
        watch(wish, for: ticket)
        return true
    }
}
