/// What a loop keeps about a port-based source.
struct PortRecord<Items: ItemTypes>: ItemRecord {
    typealias Events = UVRunLoop.DescriptorEvents

    let port: Items.Port
    /// `nil` for a port that the kernel knows nothing of.
    let descriptor: CInt?
    /// Its turn among those that became ready at the same time, as a number that sorts like it.
    private let order: UInt32
    /// What the source asks for.
    var events: Events
    var attachment = Attachment()
    /// What was noted for it and not delivered yet.
    var pendingEvents: Events = []
    /// The mode in whose queue it waits for what the kernel reported.
    var queuedIn: Int?
    /// It has something that the kernel does not know of, and waits in the queues of all its modes.
    var hasAnnouncement = false
    /// The look at the kernel that saw it ready last.
    var poll: Int64 = 0
    /// Its call is on the stack, that of this loop or of the one that it has left during the call.
    private(set) var isBeingCalled: Bool
    /// When it was served last, or else when it came.
    var servedAt: UInt64
    /// Its place in the line, from when it became ready until it is served.
    var turn: Turn?
    /// It has been told of a hang-up, and is silent until it is added again.
    var isOff = false
    /// The kernel refused to watch the descriptor: its one call is still to come.
    var isRefused = false
    /// It does not keep its modes from being empty.
    var isIdle: Bool

    init(port: Items.Port, serial: UInt64) {
        self.port = port
        isBeingCalled = port.isBeingCalled
        order = UInt32(bitPattern: Int32(clamping: port.order)) ^ (1 << 31)
        servedAt = serial
        descriptor = port.descriptor
        events = port.events
        isIdle = !port.keepsModes
    }

    func join(_ mode: inout ModeContents<Items>, slot: UInt32) -> HeapSlot {
        mode.portCount += 1
        if isIdle { mode.idlePortCount += 1 }
        if descriptor != nil { mode.descriptorCount += 1 }
        let place = mode.ready.places.take(for: slot)
        if hasAnnouncement, let turn { mode.ready.insert(place, turn) }
        return place
    }

    func leave(_ mode: inout ModeContents<Items>, place: HeapSlot) {
        mode.portCount -= 1
        if isIdle { mode.idlePortCount -= 1 }
        if descriptor != nil { mode.descriptorCount -= 1 }
        mode.ready.remove(place)
        mode.ready.places.give(back: place)
    }

    /// What the kernel is to report to it.
    struct Wish {
        /// `nil` when it is to be served nothing of the kernel's.
        var descriptor: CInt?
        var events: Events
    }

    var wish: Wish { Wish(descriptor: isServable ? descriptor : nil, events: wanted) }

    private var wanted: Events { events.union(.hangUp) }

    /// Whether it has a place in the line.
    var isWaiting: Bool { turn != nil || hasAnnouncement || isRefused }

    /// Whether a run in one of its modes may serve it.
    var isServable: Bool { !isBeingCalled && !isOff }

    /// What a run may serve of it in a mode, as the kernel is to report it.
    func interest(in mode: Int) -> Events {
        isServable && attachment.place(in: mode) != nil ? wanted : []
    }

    /// What it is to be told of what the kernel reported.
    ///
    /// A hang-up comes with all that it asked for, and not while there is something left for it to
    /// read.
    func events(of report: Readiness) -> Events {
        let plain = report.events.intersection(events).subtracting(.hangUp)
        guard report.events.contains(.hangUp) else { return plain }
        let waitsForData = report.hasUnread && events.contains(.readable)
        return waitsForData ? plain : events.union(.hangUp)
    }

    /// Puts it among the ready ports of a mode.
    ///
    /// From when it is ready until it is served it keeps its turn, whatever other modes and looks
    /// come between.
    mutating func queue(
        _ events: Events,
        poll: PollStamp,
        in modes: inout ModeTable<Items>,
        _ mode: Int
    ) {
        if let queuedIn, queuedIn != mode {
            if !hasAnnouncement { dequeue(in: &modes) }
            pendingEvents = []
        }
        pendingEvents = self.poll == poll.number ? pendingEvents.union(events) : events
        self.poll = poll.number
        queuedIn = mode
        takeTurn(at: poll.wouldHaveFound(servedAt: servedAt) ? servedAt : poll.serial)
        if let place = attachment.place(in: mode) { enqueue(place, in: &modes[mode]) }
    }

    /// Puts it among the ready ports of all its modes, for something that the kernel does not know
    /// of.
    mutating func queueAnnouncement(at serial: UInt64, in modes: inout ModeTable<Items>) {
        // Also where it is in no mode: one that it joins later finds it ready.
        takeTurn(at: serial)
        attachment.forEach { enqueue($0.place, in: &modes[$0.mode]) }
    }

    private mutating func takeTurn(at serial: UInt64) {
        turn = turn ?? Turn(rank: Int64(serial), serial: tieBreaker)
    }

    private func enqueue(_ place: HeapSlot, in mode: inout ModeContents<Items>) {
        guard let turn, !mode.ready.contains(place) else { return }
        mode.ready.insert(place, turn)
    }

    /// Sorts ports that became ready at the same time, in one look: by their order, then by how
    /// long they were not served.
    private var tieBreaker: UInt64 {
        UInt64(order) << 32 | servedAt & 0xFFFF_FFFF
    }

    /// Takes it out of the line to be served.
    mutating func beginCall(
        _ events: Events,
        _ ticket: Ticket,
        _ serial: UInt64
    ) -> GenericEngine<Items>.Delivery {
        turn = nil
        servedAt = serial
        if events.contains(.hangUp) { isOff = true }
        isBeingCalled = true
        port.isBeingCalled = true
        return GenericEngine<Items>.Delivery(
            ticket: ticket,
            port: port,
            events: events,
            isFinal: isRefused
        )
    }

    /// Ends the call, whichever loop began it.
    mutating func endCall() {
        isBeingCalled = false
        port.isBeingCalled = false
    }

    /// Takes it out of the queues for what was noted so far.
    mutating func unqueue(in modes: inout ModeTable<Items>) {
        dequeue(in: &modes)
        queuedIn = nil
        hasAnnouncement = false
        pendingEvents = []
    }

    private func dequeue(in modes: inout ModeTable<Items>) {
        if hasAnnouncement {
            attachment.forEach { modes[$0.mode].ready.remove($0.place) }
        } else if let queuedIn, let place = attachment.place(in: queuedIn) {
            modes[queuedIn].ready.remove(place)
        }
    }
}

/// A look at the kernel, and when it was.
struct PollStamp {
    private(set) var number: Int64 = 0
    private(set) var serial: UInt64 = 0
    /// When the one before it was.
    private var previous: UInt64 = 0
    /// When a look was left out last.
    var lastSkipped: UInt64 = 0

    mutating func begin(_ number: Int64, at serial: UInt64) {
        self.number = number
        (previous, self.serial) = (self.serial, serial)
    }

    /// Whether a look that was left out would have found a port ready again, as this one has:
    /// the port has its turn as if it had.
    func wouldHaveFound(servedAt: UInt64) -> Bool { previous < servedAt && servedAt < lastSkipped }
}
