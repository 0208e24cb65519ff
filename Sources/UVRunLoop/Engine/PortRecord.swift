/// A loop's record of a port-based source.
struct PortRecord<Items: ItemTypes>: ItemRecord {
    typealias Events = UVRunLoop.DescriptorEvents

    let port: Items.Port
    /// The watched descriptor; `nil` if the port has none.
    let descriptor: CInt?
    /// Whether polls find it ready.
    let isPolled: Bool
    /// The port's order, as an unsigned number that sorts the same way.
    private let order: UInt32
    /// The events that the source waits for.
    var events: Events
    var attachment = Attachment()
    /// What polls say of it, until its turn has ended.
    private enum Finding {
        case nothing
        /// A poll was skipped, which would have found it if it has stayed ready, and these are the
        /// events that it would have asked for. The next poll decides.
        case expected(Events)
        /// The events found by the latest poll that found it ready.
        case found(Events)
    }
    private var finding = Finding.nothing
    /// Whether its turn is that of a poll that was skipped.
    var isExpected: Bool { if case .expected = finding { true } else { false } }
    private var foundEvents: Events { if case .found(let events) = finding { events } else { [] } }
    /// Whether it has an event that the kernel does not report.
    var hasAnnouncement = false
    /// When it was last served; until then, when it was added, with the highest bit set.
    private var servedAt: UInt64
    private static var unserved: UInt64 { 1 << 63 }
    /// The latest poll that found it ready or was not made for it.
    ///
    /// A mode's polls before it joined the mode were not made for it, nor was one during which it
    /// joined.
    private var keptPoll: Int64 = 0
    /// Its position in the queues of all its modes, from when it became ready until it is served,
    /// or a poll in one of them does not find it.
    private(set) var turn: Turn?
    /// Whether it has received a hang-up; it gets no events until it is added again.
    var hasHungUp = false
    /// The descriptor, unless the kernel has refused to watch it: it is asked once only.
    private var watchable: CInt?
    /// The kernel's refusal, until it is delivered.
    private var refusal: UVError?
    private var hasRefusal: Bool { refusal != nil }
    /// Whether it keeps its modes from being empty.
    var keepsModes: Bool

    init(port: Items.Port, serial: UInt64) {
        self.port = port
        order = UInt32(bitPattern: Int32(clamping: port.order)) ^ (1 << 31)
        servedAt = serial | Self.unserved
        descriptor = port.descriptor
        watchable = port.descriptor
        isPolled = port.isPolled
        events = port.events
        keepsModes = port.keepsModes
    }

    /// Ends its turn if a poll has not found it ready any more.
    ///
    /// Called before a change after which the numbers of polls do not say so: it joins or leaves a
    /// mode of its loop, or gets another event.
    mutating func endLostTurn(in modes: inout ModeTable<Items>) {
        if turn != nil, !isExpected, !isReady(modes) { unqueue(in: &modes) }
    }

    mutating func willChangeModes(_ modes: inout ModeTable<Items>) { endLostTurn(in: &modes) }

    /// The mode's polls so far were not for it.
    mutating func join(_ mode: inout ModeContents<Items>, as ticket: Ticket) -> HeapSlot {
        let slot = mode.ports.insert(ticket)
        if !keepsModes { mode.idlePortCount += 1 }
        if isPolled { mode.polledPortCount += 1 }
        keptPoll = max(keptPoll, mode.latestPoll)
        if let turn { mode.ready.insert(slot, turn) }
        return slot
    }

    /// In no mode, it keeps no turn for what polls have found.
    mutating func leave(_ mode: inout ModeContents<Items>, slot: HeapSlot) {
        mode.ready.remove(slot)
        mode.ports.remove(slot)
        if !keepsModes { mode.idlePortCount -= 1 }
        if isPolled { mode.polledPortCount -= 1 }
        guard !attachment.first.exists else { return }
        finding = .nothing
        if isForPolls { turn = nil }
    }

    /// The descriptor; `nil` if no reported event can be served now.
    var servableDescriptor: CInt? { isServable ? watchable : nil }

    /// The events that the kernel must report.
    var wanted: Events { events.union(.hangUp) }

    /// Whether it has an event, as far as polls tell.
    func isReady(_ modes: borrowing ModeTable<Items>) -> Bool { !isForPolls || isFound(modes) }

    /// Whether only a poll can say that it is ready.
    private var isForPolls: Bool { !hasAnnouncement && !hasRefusal }

    /// Whether a poll has found it, and every later one in one of its modes, too.
    private func isFound(_ modes: borrowing ModeTable<Items>) -> Bool {
        var isFound = !foundEvents.isEmpty
        attachment.forEach { if modes[$0.mode].latestPoll > keptPoll { isFound = false } }
        return isFound
    }

    /// Its events to deliver; a refusal comes as a hang-up.
    func undelivered(_ modes: borrowing ModeTable<Items>) -> Events {
        let reported = isFound(modes) ? foundEvents : []
        return hasRefusal ? reported.union(.hangUp) : reported
    }

    /// Whether its handler is running, in this loop or in one that it left during the call.
    var isBeingCalled: Bool { port.isBeingCalled }

    /// Whether a run in one of its modes can serve it.
    var isServable: Bool { !isBeingCalled && !hasHungUp }

    /// Whether a refusal is one for this port in a mode.
    func canBeRefused(in mode: Int) -> Bool { watchable != nil && !interest(in: mode).isEmpty }

    /// Returns the events that a run in a mode can serve.
    func interest(in mode: Int) -> Events {
        isServable && attachment.heapSlot(in: mode) != nil ? wanted : []
    }

    /// Returns the events of a report that are for this source.
    ///
    /// A hang-up comes with all events that the source waits for, and not before its data was read.
    func events(of report: ReadyReport) -> Events {
        let plain = report.events.intersection(events).subtracting(.hangUp)
        guard report.events.contains(.hangUp) else { return plain }
        let waitsForData = report.details.contains(.unread) && events.contains(.readable)
        return waitsForData ? plain : events.union(.hangUp)
    }

    /// Queues it as one that a skipped poll would have found if it has stayed ready.
    ///
    /// It is not served before another poll has found it.
    ///
    /// - Returns: Whether the poll would have found it, and it had no turn.
    mutating func expect(at serial: UInt64, in mode: Int, _ modes: inout ModeTable<Items>) -> Bool {
        guard turn == nil, !interest(in: mode).isEmpty else { return false }
        finding = .expected(wanted)
        queue(at: serial, in: &modes)
        return true
    }

    /// Takes the events of a report, if it is expected and the skipped poll has asked for them.
    mutating func confirm(_ report: ReadyReport, poll: Int64) {
        guard case .expected(let wanted) = finding, isServable else { return }
        let events = events(of: report)
        guard !events.isDisjoint(with: wanted) else { return }
        finding = .found(events)
        keptPoll = poll
    }

    /// Ends the turn of a skipped poll, which the next poll has not confirmed.
    mutating func endExpectation(in modes: inout ModeTable<Items>) {
        guard isExpected else { return }
        finding = .nothing
        if isForPolls { unqueue(in: &modes) }
    }

    /// Queues the events that a poll has found; called before the poll has ended.
    mutating func queue(
        _ events: Events,
        poll: Int64,
        at serial: UInt64,
        in modes: inout ModeTable<Items>
    ) {
        if case .expected(let wanted) = finding, events.isDisjoint(with: wanted) {
            endExpectation(in: &modes)
        }
        endLostTurn(in: &modes)
        finding = .found(keptPoll == poll ? foundEvents.union(events) : events)
        keptPoll = poll
        queue(at: serial, in: &modes)
    }

    /// Keeps its turn after a poll of a mode that was not made for it, if it is in the mode.
    mutating func keep(after poll: Int64, in mode: Int) {
        if attachment.heapSlot(in: mode) != nil { keptPoll = max(keptPoll, poll) }
    }

    /// Queues an announced event, which a poll may have found.
    mutating func announce(at serial: UInt64, in modes: inout ModeTable<Items>) {
        endLostTurn(in: &modes)
        hasAnnouncement = true
        if !isBeingCalled { queue(at: serial, in: &modes) }
    }

    /// Queues a refusal, which is not asked for again in another mode.
    mutating func queue(
        _ error: UVError,
        at serial: UInt64,
        in modes: inout ModeTable<Items>
    ) {
        endLostTurn(in: &modes)
        refusal = error
        watchable = nil
        queue(at: serial, in: &modes)
    }

    /// Queues it in all its modes, unless it is queued already.
    ///
    /// It gets a turn even if it is in none, and is queued in a mode that it joins later.
    mutating func queue(at serial: UInt64, in modes: inout ModeTable<Items>) {
        guard self.turn == nil else { return }
        let turn = Turn(rank: Int64(serial), serial: tieBreaker(at: serial))
        self.turn = turn
        attachment.forEach { modes[$0.mode].ready.insert($0.heapSlot, turn) }
    }

    /// Orders ports that became ready in the same poll: by order, then longest unserved first.
    private func tieBreaker(at serial: UInt64) -> UInt64 {
        let wait = min(serial &- servedAt & ~Self.unserved, UInt64(UInt32.max))
        return UInt64(order) << 32 | (UInt64(UInt32.max) - wait)
    }

    /// Begins its call, and takes a refusal.
    ///
    /// It has no turn, and is in no queue any more.
    @inline(__always)
    mutating func beginCall(
        _ events: Events,
        _ ticket: Ticket
    ) -> GenericEngine<Items>.Delivery {
        let refusal = events.contains(.hangUp) ? takeRefusal() : nil
        port.isBeingCalled = true
        return GenericEngine<Items>.Delivery(
            ticket: ticket,
            port: port,
            events: events,
            refusal: refusal
        )
    }

    /// Ends its call, after which it may be ready again.
    mutating func endCall(at serial: UInt64) {
        servedAt = serial
        port.isBeingCalled = false
    }

    /// Takes the refusal that a hang-up stands for; without one, the source is off after the
    /// hang-up.
    @inline(never)
    private mutating func takeRefusal() -> UVError? {
        if !hasRefusal { hasHungUp = true }
        return refusal.take()
    }

    /// Removes it from the queues, ends its turn and discards its pending events.
    mutating func unqueue(in modes: inout ModeTable<Items>) {
        turn = nil
        attachment.forEach { modes[$0.mode].ready.remove($0.heapSlot) }
        hasAnnouncement = false
        finding = .nothing
    }
}
