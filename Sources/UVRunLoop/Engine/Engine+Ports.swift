/// What a loop keeps about a port-based source.
struct PortRecord: ItemRecord {
    typealias Events = UVRunLoop.DescriptorSource.Events

    let port: any UVRunLoop.PortSource
    let descriptor: CInt
    /// What the source asks for.
    let events: Events
    var attachment = Attachment()
    /// What was noted for it and not delivered yet.
    fileprivate var noted: Events = []
    /// The mode in whose queue it waits.
    fileprivate var queuedIn: Int?
    /// The look at the kernel that saw it ready last.
    fileprivate var look: Int64 = 0
    /// It has been told of a hang-up, and is silent until it is added again.
    fileprivate var isOff = false
    /// The kernel refused to watch the descriptor: its one call is still to come.
    fileprivate var isRefused = false

    init(port: any UVRunLoop.PortSource) {
        self.port = port
        descriptor = port.link.descriptor
        events = port.link.events
    }

    func join(_ mode: inout ModeContents, slot: UInt32) -> Place {
        mode.portCount += 1
        mode.unwatched.insert(descriptor)
        return mode.ready.places.take(for: slot)
    }

    func leave(_ mode: inout ModeContents, place: Place) {
        mode.portCount -= 1
        mode.ready.remove(place)
        mode.ready.places.give(back: place)
    }

    /// What a run may serve of it in a mode, as the kernel is to report it.
    fileprivate func interest(in mode: Int) -> Events {
        let isServable = !port.link.isBeingCalled && !isOff && attachment.place(in: mode) != nil
        return isServable ? events.union(.hangUp) : []
    }
}

/// An event that a port-based source is about to be told of.
struct Delivery {
    var port: any UVRunLoop.PortSource
    var ticket: Ticket
    var events: UVRunLoop.DescriptorSource.Events
    /// The kernel refused to watch the descriptor: this call is the last one.
    var isFinal: Bool
}

extension Engine {
    typealias Events = UVRunLoop.DescriptorSource.Events

    mutating func insert(_ port: any UVRunLoop.PortSource) -> Ticket {
        let ticket = ports.insert(PortRecord(port: port))
        descriptors.insert(ticket, for: port.link.descriptor, serial: nextSerial())
        return ticket
    }

    mutating func add(_ ticket: Ticket, portTo mode: UVRunLoop.Mode) {
        noteChange()
        ports.modify(ticket) { $0.isOff = false }
        _ = ports.add(ticket, to: mode, in: &modes)
        watchAgain(ticket)
    }

    /// Forgets a port that left the loop.
    mutating func didDrop(_ record: PortRecord, _ ticket: Ticket) {
        descriptors.remove(ticket, from: record.descriptor)
    }

    /// Has the next run that may serve the port make sure that the kernel watches for it.
    mutating func watchAgain(_ ticket: Ticket) {
        guard let record = ports[ticket] else { return }
        record.attachment.forEach { modes[$0.mode].unwatched.insert(record.descriptor) }
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

    /// Whether an order is still what the loop wants, now that another thread had time to change it.
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
        for ticket in group.sources where ports[ticket]?.interest(in: mode).isEmpty == false {
            ports.modify(ticket) { $0.isRefused = true }
            queue(ticket, events: .hangUp, in: mode)
        }
        for ticket in group.sources where ports[ticket]?.isRefused == false { watchAgain(ticket) }
    }

    // MARK: Readiness

    /// Notes what the kernel reported about a descriptor, for every source that the mode's run may serve.
    ///
    /// - Returns: What to ask of the kernel instead when it woke the run for sources that must wait.
    mutating func note(_ descriptor: CInt, _ reported: Events, in mode: Int) -> WatchOrder? {
        guard let group = descriptors[descriptor] else {
            return WatchOrder(descriptor: descriptor, registration: 0, events: nil)
        }
        var isForSomebody = false
        for ticket in group.sources {
            guard let record = ports[ticket], !record.interest(in: mode).isEmpty else { continue }
            let hasHungUp = reported.contains(.hangUp)
            let events =
                hasHungUp ? record.events.union(.hangUp) : reported.intersection(record.events)
            guard !events.isEmpty else { continue }
            isForSomebody = true
            queue(ticket, events: events, in: mode)
        }
        return isForSomebody ? nil : reduce(group, descriptor, for: mode)
    }

    /// Leaves with the kernel only what the running mode can serve; other modes ask again when they run.
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

    private mutating func queue(_ ticket: Ticket, events: Events, in mode: Int) {
        if let other = ports[ticket]?.queuedIn, other != mode { unqueue(ticket) }
        let place = ports[ticket]?.attachment.place(in: mode)
        let look = look
        ports.modify(ticket) {
            $0.noted = $0.look == look ? $0.noted.union(events) : events
            $0.look = look
            $0.queuedIn = mode
        }
        guard let place, !modes[mode].ready.contains(place) else { return }
        let order = ports[ticket]?.port.link.order ?? 0
        modes[mode].ready.insert(place, rank: look, serial: turn(order: order))
    }

    /// Among ports that one look found ready: by their order, then as the kernel named them.
    private mutating func turn(order: Int) -> UInt64 {
        let order = UInt32(bitPattern: Int32(clamping: order)) ^ (1 << 31)
        return UInt64(order) << 32 | nextSerial() & 0xFFFF_FFFF
    }

    private mutating func unqueue(_ ticket: Ticket) {
        guard let record = ports[ticket], let mode = record.queuedIn else { return }
        if let place = record.attachment.place(in: mode) { modes[mode].ready.remove(place) }
        ports.modify(ticket) {
            $0.queuedIn = nil
            $0.noted = []
        }
    }

    /// Whether a port of the mode is ready, as far as the latest look knows.
    mutating func hasReadyPort(in mode: Int) -> Bool {
        firstReadyPort(in: mode) != nil
    }

    /// Passes over what an earlier look saw and the latest did not: it has been used up meanwhile.
    private mutating func firstReadyPort(in mode: Int) -> Ticket? {
        while let slot = modes[mode].ready.first {
            let ticket = ports.ticket(at: slot)
            guard let record = ports[ticket] else { return nil }
            if record.look == look || record.isRefused { return ticket }
            unqueue(ticket)
        }
        return nil
    }

    // MARK: Serving

    mutating func takeReadyPort(in mode: Int) -> Delivery? {
        guard let ticket = firstReadyPort(in: mode), let record = ports[ticket] else { return nil }
        let events = record.noted
        unqueue(ticket)
        ports.modify(ticket) {
            $0.port.link.callDepth.add(1, ordering: .relaxed)
            $0.isOff = events.contains(.hangUp)
        }
        return Delivery(
            port: record.port,
            ticket: ticket,
            events: events,
            isFinal: record.isRefused
        )
    }

    mutating func endServing(_ ticket: Ticket) {
        guard let record = ports[ticket], !record.port.link.isBeingCalled, !record.isOff else {
            return
        }
        let armed = descriptors[record.descriptor]?.armed ?? []
        if !armed.isSuperset(of: record.events.union(.hangUp)) { watchAgain(ticket) }
    }
}
