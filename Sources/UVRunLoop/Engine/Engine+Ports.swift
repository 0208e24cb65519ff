/// What a loop keeps about a port-based source.
struct PortRecord: ItemRecord {
    typealias Events = UVRunLoop.DescriptorSource.Events

    let port: any UVRunLoop.PortSource
    private let link: UVRunLoop.PortLink
    /// `nil` for a port that the kernel knows nothing of.
    let descriptor: CInt?
    /// What the source asks for.
    fileprivate var events: Events
    var attachment = Attachment()
    /// What was noted for it and not delivered yet.
    fileprivate var noted: Events = []
    /// The mode in whose queue it waits for what the kernel reported.
    fileprivate var queuedIn: Int?
    /// It has something that the kernel does not know of, and waits in the queues of all its modes.
    fileprivate var hasArrival = false
    /// The look at the kernel that saw it ready last.
    fileprivate var look: Int64 = 0
    /// When it was served last, or else when it came.
    fileprivate var servedAt: UInt64
    /// Its place in the line, from when it became ready until it is served.
    fileprivate var turn: OrderedHeap.Key?
    /// It has been told of a hang-up, and is silent until it is added again.
    fileprivate var isOff = false
    /// The kernel refused to watch the descriptor: its one call is still to come.
    fileprivate var isRefused = false
    /// It does not keep its modes from being empty.
    fileprivate var isIdle = false

    init(port: any UVRunLoop.PortSource, serial: UInt64) {
        self.port = port
        link = port.link
        servedAt = serial
        descriptor = link.descriptor
        events = link.events
    }

    func join(_ mode: inout ModeContents, slot: UInt32) -> Place {
        mode.portCount += 1
        if isIdle { mode.idlePortCount += 1 }
        let place = mode.ready.places.take(for: slot)
        if hasArrival, let turn { mode.ready.insert(place, rank: turn.rank, serial: turn.serial) }
        return place
    }

    func leave(_ mode: inout ModeContents, place: Place) {
        mode.portCount -= 1
        if isIdle { mode.idlePortCount -= 1 }
        mode.ready.remove(place)
        mode.ready.places.give(back: place)
    }

    fileprivate var isBeingCalled: Bool { link.isBeingCalled }

    /// Whether a run in one of its modes may serve it.
    fileprivate var isServable: Bool { !isBeingCalled && !isOff }

    /// What a run may serve of it in a mode, as the kernel is to report it.
    fileprivate func interest(in mode: Int) -> Events {
        guard isServable, attachment.place(in: mode) != nil else { return [] }
        return events.union(.hangUp)
    }

    /// What it is to be told of what the kernel reported.
    ///
    /// A hang-up comes with all that it asked for, and not while there is something left for it to
    /// read.
    fileprivate func events(of report: Readiness) -> Events {
        let plain = report.events.intersection(events).subtracting(.hangUp)
        guard report.events.contains(.hangUp) else { return plain }
        let waitsForData = report.hasUnread && events.contains(.readable)
        return waitsForData ? plain : events.union(.hangUp)
    }

    /// Puts it among the ready ports of a mode.
    ///
    /// From when it is ready until it is served it keeps its turn, whatever other modes and looks
    /// come between.
    fileprivate mutating func queue(
        _ events: Events,
        look: Look,
        in modes: inout ModeTable,
        _ mode: Int
    ) {
        if let queuedIn, queuedIn != mode {
            if !hasArrival { dequeue(in: &modes) }
            noted = []
        }
        noted = self.look == look.number ? noted.union(events) : events
        self.look = look.number
        queuedIn = mode
        guard let place = attachment.place(in: mode) else { return }
        enqueue(place, in: &modes[mode], at: look.serial)
    }

    /// Puts it among the ready ports of all its modes, for something that the kernel does not know
    /// of.
    fileprivate mutating func queueArrival(at serial: UInt64, in modes: inout ModeTable) {
        let attachment = attachment
        attachment.forEach { enqueue($0.place, in: &modes[$0.mode], at: serial) }
    }

    private mutating func enqueue(_ place: Place, in mode: inout ModeContents, at serial: UInt64) {
        let turn = turn ?? OrderedHeap.Key(rank: Int64(serial), serial: tieBreaker)
        self.turn = turn
        guard !mode.ready.contains(place) else { return }
        mode.ready.insert(place, rank: turn.rank, serial: turn.serial)
    }

    /// Sorts ports that became ready at the same time, in one look: by their order, then by how
    /// long they were not served.
    private var tieBreaker: UInt64 {
        let order = UInt32(bitPattern: Int32(clamping: link.order)) ^ (1 << 31)
        return UInt64(order) << 32 | servedAt & 0xFFFF_FFFF
    }

    fileprivate func beginCall(_ events: Events) -> Delivery {
        link.callWillBegin()
        return Delivery(port: port, link: link, events: events, isFinal: isRefused)
    }

    /// Takes it out of the queues for what was noted so far.
    fileprivate mutating func unqueue(in modes: inout ModeTable) {
        dequeue(in: &modes)
        queuedIn = nil
        hasArrival = false
        noted = []
    }

    private func dequeue(in modes: inout ModeTable) {
        if hasArrival {
            attachment.forEach { modes[$0.mode].ready.remove($0.place) }
        } else if let queuedIn, let place = attachment.place(in: queuedIn) {
            modes[queuedIn].ready.remove(place)
        }
    }
}

/// A look at the kernel, and when it was.
private struct Look {
    let number: Int64
    let serial: UInt64
}

extension Engine {
    typealias Events = UVRunLoop.DescriptorSource.Events

    mutating func insert(_ port: any UVRunLoop.PortSource) -> Ticket {
        let serial = nextSerial()
        let ticket = ports.insert(PortRecord(port: port, serial: serial))
        if let descriptor = port.link.descriptor {
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
        noteChange()
        ports.modify(ticket) { $0.isOff = false }
        _ = ports.add(ticket, to: mode, in: &modes)
        watchAgain(ticket)
        if isReady || ports[ticket]?.hasArrival == true { noteArrival(ticket) }
    }

    /// Takes a port out of a mode; answers its record when nothing keeps it here any more.
    mutating func remove(_ ticket: Ticket, portFrom mode: UVRunLoop.Mode) -> PortRecord? {
        noteChange()
        _ = ports.remove(ticket, from: mode, in: &modes)
        guard let dropped = ports.dropIfUnused(ticket) else { return nil }
        forgetDescriptor(of: dropped, ticket)
        return dropped
    }

    /// Takes a port out of the loop.
    mutating func removePort(_ ticket: Ticket) -> PortRecord? {
        noteChange()
        guard let found = ports.removeEverywhere(ticket, in: &modes) else { return nil }
        forgetDescriptor(of: found.record, ticket)
        return found.record
    }

    private mutating func forgetDescriptor(of record: PortRecord, _ ticket: Ticket) {
        if let descriptor = record.descriptor { descriptors.remove(ticket, from: descriptor) }
    }

    /// Changes what a port asks the kernel for; one that was told of a hang-up is on again.
    mutating func setEvents(_ events: Events, of ticket: Ticket) {
        guard let record = ports[ticket], let descriptor = record.descriptor else { return }
        noteChange()
        ports.modify(ticket) { record in
            record.events = events
            record.isOff = false
        }
        if record.events.isSubset(of: events) {
            watchAgain(ticket)
        } else {
            // Asked for no longer but still reported, it would wake the loop in vain.
            noteUnwatched(descriptor)
        }
    }

    /// Has the next run that may serve the port make sure that the kernel watches for it.
    ///
    /// As a rule it does, and whoever makes it watch for less calls this anew.
    mutating func watchAgain(_ ticket: Ticket) {
        let descriptors = descriptors
        ports.modify(ticket, in: &modes) { record, modes in
            guard let descriptor = record.descriptor,
                !descriptors.isArmed(descriptor, for: record.events.union(.hangUp))
            else { return }
            record.attachment.forEach { modes[$0.mode].unwatched.insert(descriptor) }
        }
    }

    /// Has a port keep its modes from being empty, as ports do at first, or no longer.
    mutating func setKeepsModes(_ keepsModes: Bool, _ ticket: Ticket) {
        noteChange()
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
        guard !modes[mode].unwatched.isEmpty else { return [] }
        defer { modes[mode].unwatched.removeAll(keepingCapacity: true) }
        return modes[mode].unwatched.compactMap { descriptor in
            guard let group = descriptors[descriptor] else { return nil }
            let wanted = interest(of: group, in: mode)
            guard !wanted.isEmpty, !(group.armed?.isSuperset(of: wanted) ?? false) else {
                return nil
            }
            let events = wanted.union(group.armed ?? [])
            descriptors.setArmed(events, for: descriptor)
            return WatchOrder(
                descriptor: descriptor,
                registration: group.registration,
                events: events
            )
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
    mutating func noteRefusal(of order: WatchOrder, in mode: Int) {
        guard let group = descriptors[order.descriptor], isCurrent(order) else { return }
        descriptors.setArmed(nil, for: order.descriptor)
        let look = Look(number: look, serial: lookSerial)
        for ticket in group.sources {
            let isServed = ports.modify(ticket, in: &modes) { record, modes in
                guard !record.interest(in: mode).isEmpty else { return false }
                record.isRefused = true
                record.queue(.hangUp, look: look, in: &modes, mode)
                return true
            }
            if isServed == false { watchAgain(ticket) }
        }
    }

    // MARK: Readiness

    /// Notes what the kernel reported about a descriptor, for every source that the mode's run may
    /// serve.
    ///
    /// - Returns: What to ask of the kernel instead when it woke the run for sources that must
    ///   wait.
    mutating func note(_ report: Readiness, in mode: Int) -> WatchOrder? {
        let descriptor = report.descriptor
        guard let group = descriptors[descriptor], group.registration == report.registration else {
            return WatchOrder(
                descriptor: descriptor,
                registration: report.registration,
                events: nil
            )
        }
        var isForSomebody = false
        for ticket in group.sources where queue(ticket, report, in: mode) { isForSomebody = true }
        if report.isUnwatched {
            noteUnwatched(descriptor)
            return nil
        }
        return isForSomebody ? nil : reduce(group, descriptor, for: mode)
    }

    /// Has the kernel asked again for all that a descriptor's sources want: it watches for none of
    /// it.
    mutating func noteUnwatched(_ descriptor: CInt) {
        descriptors.setArmed(nil, for: descriptor)
        for ticket in descriptors[descriptor]?.sources ?? [] { watchAgain(ticket) }
    }

    /// Leaves with the kernel only what the running mode can serve; other modes ask again when
    /// they run.
    private mutating func reduce(
        _ group: DescriptorTable.Group,
        _ descriptor: CInt,
        for mode: Int
    ) -> WatchOrder? {
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
        let look = Look(number: look, serial: lookSerial)
        return ports.modify(ticket, in: &modes) { record, modes in
            guard !record.interest(in: mode).isEmpty else { return false }
            let events = record.events(of: report)
            guard !events.isEmpty else { return false }
            record.queue(events, look: look, in: &modes, mode)
            return true
        } ?? false
    }

    /// Notes that a port has something which the kernel does not know of.
    ///
    /// One that is being called waits for the end of the call.
    mutating func noteArrival(_ ticket: Ticket) {
        let serial = nextSerial()
        ports.modify(ticket, in: &modes) { record, modes in
            record.hasArrival = true
            if !record.isBeingCalled { record.queueArrival(at: serial, in: &modes) }
        }
    }

    /// Whether a port of the mode is ready, as far as the latest look knows.
    mutating func hasReadyPort(in mode: Int) -> Bool {
        firstReadyPort(in: mode) != nil
    }

    /// Passes over what an earlier look saw and the latest did not: it has been used up meanwhile.
    private mutating func firstReadyPort(in mode: Int) -> Ticket? {
        let look = look
        while let slot = modes[mode].ready.first {
            let ticket = ports.ticket(at: slot)
            let isFresh = ports.modify(ticket, in: &modes) { record, modes in
                if record.hasArrival || record.look == look || record.isRefused { return true }
                record.unqueue(in: &modes)
                return false
            }
            if isFresh == true { return ticket }
        }
        return nil
    }

    // MARK: Serving

    mutating func takeReadyPort(in mode: Int) -> Delivery? {
        guard let ticket = firstReadyPort(in: mode) else { return nil }
        let serial = nextSerial()
        let look = look
        return ports.modify(ticket, in: &modes) { record, modes in
            let isFresh = record.look == look || record.isRefused
            let events = isFresh ? record.noted : []
            record.unqueue(in: &modes)
            record.turn = nil
            record.servedAt = serial
            if events.contains(.hangUp) { record.isOff = true }
            return record.beginCall(events)
        }
    }

    /// Ends a call of a port, which then may be served again.
    ///
    /// - Parameters:
    ///   - ticket: The port.
    ///   - hasMore: Whether it has more that the kernel does not know of.
    mutating func endServing(_ ticket: Ticket, hasMore: Bool = false) {
        let state = ports.modify(ticket) { ($0.hasArrival, $0.isServable) }
        guard let (hasArrival, isServable) = state else { return }
        if hasMore || hasArrival { noteArrival(ticket) }
        if isServable { watchAgain(ticket) }
    }
}
