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
    /// Reported events that are not delivered yet; it is queued for them in the modes of the runs
    /// that they were reported to.
    private var pendingEvents: Events = []
    /// Whether it has an event that the kernel does not report, and is queued in all its modes.
    var hasAnnouncement = false
    /// The number of the poll that last found it ready.
    var poll: Int64 = 0
    /// When it was last served; until then, when it was added, with the highest bit set.
    private var servedAt: UInt64
    /// The latest poll when it was last served.
    private var servedPoll: Int64 = -1
    private static var unserved: UInt64 { 1 << 63 }
    /// The latest poll that found it ready or, if it has joined a mode since, the latest one of its
    /// modes then.
    private var keptPoll: Int64 = 0
    /// Its position in the queues, from when it became ready until it is served or not found any
    /// more.
    var turn: Turn?
    /// Whether it has received a hang-up; it gets no events until it is added again.
    var hasHungUp = false
    /// The descriptor, unless the kernel has refused to watch it: it is asked once only.
    private var watchable: CInt?
    /// The kernel's refusal, until it is delivered; it is queued for it in all its modes.
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

    func join(_ mode: inout ModeContents<Items>, slot: HeapSlot) {
        mode.portCount += 1
        if !keepsModes { mode.idlePortCount += 1 }
        if isPolled { mode.polledPortCount += 1 }
        if hasAnnouncement || hasRefusal, let turn { mode.ready.insert(slot, turn) }
    }

    func leave(_ mode: inout ModeContents<Items>, slot: HeapSlot) {
        mode.portCount -= 1
        if !keepsModes { mode.idlePortCount -= 1 }
        if isPolled { mode.polledPortCount -= 1 }
        mode.ready.remove(slot)
    }

    /// The events that the kernel must report for a port.
    struct Interest {
        /// `nil` if no reported event can be served now.
        var descriptor: CInt?
        var events: Events
    }

    var interest: Interest { Interest(descriptor: isServable ? watchable : nil, events: wanted) }

    private var wanted: Events { events.union(.hangUp) }

    /// Whether it has an event that counts, if a reported one does from a poll on.
    func isReady(since poll: Int64) -> Bool { self.poll >= poll || hasAnnouncement || hasRefusal }

    /// Its events that count; a refusal comes as a hang-up.
    func events(since poll: Int64) -> Events {
        let reported = self.poll >= poll ? pendingEvents : []
        return hasRefusal ? reported.union(.hangUp) : reported
    }

    /// Whether a run in a mode would find an event of it.
    func isReady(in mode: Int, of modes: borrowing ModeTable<Items>) -> Bool {
        guard let heapSlot = attachment.heapSlot(in: mode) else { return false }
        return hasAnnouncement || modes[mode].ready.contains(heapSlot)
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

    /// Queues a reported event in a mode.
    ///
    /// A port keeps its turn from when it became ready until it is served, or a later poll in one of
    /// its modes does not find it, whatever other modes and polls come between.
    mutating func queue(
        _ events: Events,
        poll: PollStamp,
        in modes: inout ModeTable<Items>,
        _ mode: Int
    ) {
        if turn != nil, isLost(before: poll.number, modes) { unqueue(in: &modes) }
        pendingEvents = self.poll == poll.number ? pendingEvents.union(events) : events
        (self.poll, keptPoll) = (poll.number, poll.number)
        takeTurn(at: serial(in: poll))
        if let heapSlot = attachment.heapSlot(in: mode) { enqueue(heapSlot, in: &modes[mode]) }
    }

    /// Whether a poll of one of its modes, before this one, has not found it ready any more.
    private func isLost(before poll: Int64, _ modes: borrowing ModeTable<Items>) -> Bool {
        guard isForPolls else { return false }
        var isLost = false
        attachment.forEach { membership in
            if modes[membership.mode].latestPoll(before: poll) > keptPoll { isLost = true }
        }
        return isLost
    }

    /// Whether all its events are of polls.
    private var isForPolls: Bool { !hasAnnouncement && !hasRefusal }

    /// It has joined a mode, whose polls so far were not for it.
    mutating func didJoin(_ modes: borrowing ModeTable<Items>) {
        var latest = keptPoll
        attachment.forEach { latest = max(latest, modes[$0.mode].latestPoll) }
        keptPoll = latest
    }

    /// It has left a mode; in none, it keeps no turn for what polls have found.
    mutating func didLeave() {
        if isForPolls, !attachment.first.exists { turn = nil }
    }

    /// Queues a refusal, which is not asked for again in another mode.
    mutating func queue(_ error: UVError, poll: PollStamp, in modes: inout ModeTable<Items>) {
        refusal = error
        watchable = nil
        queueInAllModes(at: serial(in: poll), &modes)
    }

    /// Queues an event that no poll reports.
    mutating func queueInAllModes(at serial: UInt64, _ modes: inout ModeTable<Items>) {
        // Even if it is in no mode: it is queued in a mode that it joins later.
        takeTurn(at: serial)
        attachment.forEach { enqueue($0.heapSlot, in: &modes[$0.mode]) }
    }

    /// The serial number at which a poll has found it ready.
    func serial(in poll: PollStamp) -> UInt64 {
        poll.place(servedAt: servedAt, after: servedPoll) { attachment.heapSlot(in: $0) != nil }
    }

    private mutating func takeTurn(at serial: UInt64) {
        turn = turn ?? Turn(rank: Int64(serial), serial: tieBreaker(at: serial))
    }

    private func enqueue(_ heapSlot: HeapSlot, in mode: inout ModeContents<Items>) {
        guard let turn, !mode.ready.contains(heapSlot) else { return }
        mode.ready.insert(heapSlot, turn)
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
        _ ticket: Ticket,
        poll: Int64
    ) -> GenericEngine<Items>.Delivery {
        servedPoll = poll
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
        pendingEvents = []
    }
}
