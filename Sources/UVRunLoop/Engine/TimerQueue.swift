/// The timers of one mode, soonest first.
///
/// Timers without tolerance are in one heap, by date. Timers with tolerance are in two: by date,
/// which tells which timers are due, and by the end of their windows, which tells how long the loop
/// may sleep.
struct TimerQueue<Member: AnyObject>: ~Copyable {
    /// The timers, each with the serial number of its latest scheduling, which orders equal dates.
    var members = HeapMembers<Member>()
    private var strict = OrderedHeap()
    private var tolerant = OrderedHeap()
    private var windows = OrderedHeap()
    /// Due timers that were queued too late for the batch that is being fired.
    private var latecomers = OrderedHeap()
    /// The batches in progress; each began in a handler of the one before it.
    private var batches = OwnedArray<Batch>()
    /// How many batches have begun: the tag of a timer that is queued now.
    private var batchCount: UInt32 = 0
    // Copies of the innermost batch's properties, which every fire reads.
    private var batchNow: Int64 = 0
    private var batchNumber: UInt32 = 0
    /// Whether a timer of the innermost batch keeps a turn other than its place in the queue.
    private(set) var hasDisplaced = false

    /// Queues a timer.
    ///
    /// - Precondition: It is not queued.
    @inline(__always)
    mutating func schedule(_ slot: HeapSlot, date: Int64, latest: Int64) {
        if latest > date { return scheduleWithTolerance(slot, date: date, latest: latest) }
        strict.insert(slot, turn(of: slot, at: date), tag: batchCount)
    }

    @inline(never)
    private mutating func scheduleWithTolerance(_ slot: HeapSlot, date: Int64, latest: Int64) {
        tolerant.insert(slot, turn(of: slot, at: date), tag: batchCount)
        // Of windows that end together the last to open comes first: a wake-up in that one serves
        // the others as well.
        let lastToOpenFirst = UInt64(bitPattern: ~date ^ .min)
        windows.insert(slot, Turn(rank: latest, serial: lastToOpenFirst))
    }

    private func turn(of slot: HeapSlot, at date: Int64) -> Turn {
        Turn(rank: date, serial: members.serial(of: slot))
    }

    /// Removes a timer from the queue, if it is there.
    ///
    /// Not inlined, because the heaps' removals are inlined into it.
    @inline(never)
    mutating func unschedule(_ slot: HeapSlot) {
        strict.remove(slot)
        if !windows.isEmpty {
            tolerant.remove(slot)
            windows.remove(slot)
        }
        if !latecomers.isEmpty { latecomers.remove(slot) }
    }

    /// The soonest date of a queued timer.
    var soonest: Int64? {
        @inline(__always)
        get {
            let soonest = min(strict.soonest, tolerant.soonest, latecomers.soonest)
            return isEmpty ? nil : soonest
        }
    }

    /// When a sleep ends: in the first window to close, or at a date without one.
    var wakeWindow: WakeWindow? {
        @inline(__always)
        get {
            let date = min(strict.soonest, latecomers.soonest)
            if let window = windows.first, window.rank < date {
                // The window opens at the date.
                return WakeWindow(earliest: queued(window.slot)?.rank ?? .min, latest: window.rank)
            }
            let hasDate = !strict.isEmpty || !latecomers.isEmpty
            return hasDate ? WakeWindow(earliest: date, latest: date) : nil
        }
    }

    /// The number of queued timers: all but those that are being called.
    var queuedCount: Int { strict.count + tolerant.count + latecomers.count }

    private var isEmpty: Bool {
        @inline(__always)
        get { strict.isEmpty && tolerant.isEmpty && latecomers.isEmpty }
    }

    // MARK: Batches

    /// One round of firing: the timers that were queued and due when it began.
    ///
    /// They stay queued until their turns come. A timer that is queued again before its turn, with
    /// a new date or after it has left the mode, keeps the turn.
    private struct Batch: ~Copyable {
        let now: Int64
        /// Timers that were queued before the batch began have smaller tags.
        var number: UInt32
        /// Timers that keep their turns although they are no longer queued where they were.
        private(set) var displaced: [(member: Member, turn: Turn)] = []
        /// Those of their turns that have not come, by index.
        private var turns = OrderedHeap()

        init(now: Int64, number: UInt32) { (self.now, self.number) = (now, number) }

        func holds(_ entry: OrderedHeap.Entry) -> Bool { entry.rank <= now && entry.tag < number }

        mutating func displace(_ member: Member, _ turn: Turn) {
            turns.insert(HeapSlot(displaced.count), turn)
            displaced.append((member, turn))
        }

        /// The first displaced turn.
        var firstTurn: Turn? { turns.first?.turn }

        /// Ends the first displaced turn; returns whose it was.
        mutating func takeFirst() -> Member? {
            guard let slot = turns.first?.slot else { return nil }
            turns.remove(slot)
            return displaced[Int(slot)].member
        }
    }

    mutating func beginBatch(now: Int64) {
        // Timers that were too late for the outer batch are in time for this one.
        admitLatecomers()
        if batchCount == .max { renumberBatches() }
        batchCount += 1
        batches.append(Batch(now: now, number: batchCount))
        innermostBatchDidChange()
    }

    private mutating func innermostBatchDidChange() {
        guard !batches.isEmpty else { return hasDisplaced = false }
        let innermost = batches.count - 1
        (batchNow, batchNumber) = (batches[innermost].now, batches[innermost].number)
        hasDisplaced = batches[innermost].firstTurn != nil
    }

    /// Ends the innermost batch.
    ///
    /// - Returns: The timers it held, for the caller to release, in the order of their turns; `nil` if
    ///   there are none.
    mutating func endBatch() -> [Member]? {
        admitLatecomers()
        let displaced = batches.removeLast().displaced
        innermostBatchDidChange()
        guard !displaced.isEmpty else { return nil }
        return displaced.sorted { $0.turn < $1.turn }.map(\.member)
    }

    private mutating func admitLatecomers() {
        while let entry = latecomers.first {
            latecomers.remove(entry.slot)
            if windows.contains(entry.slot) {
                tolerant.insert(entry.slot, entry.turn, tag: entry.tag)
            } else {
                strict.insert(entry.slot, entry.turn, tag: entry.tag)
            }
        }
    }

    /// Restarts the numbers of the batches; the batches in progress keep their timers.
    mutating func renumberBatches() {
        let numbers = batches.indices.map { batches[$0].number }
        let renumber = { (tag: UInt32) in UInt32(numbers.count { $0 <= tag }) }
        strict.changeTags(renumber)
        tolerant.changeTags(renumber)
        latecomers.changeTags(renumber)
        for index in batches.indices { batches[index].number = UInt32(index + 1) }
        batchCount = UInt32(batches.count)
        innermostBatchDidChange()
    }

    /// Takes the next timer of the innermost batch out of the queue.
    ///
    /// - Returns: The timer, and the time for which it is due.
    @inline(__always)
    mutating func takeNext() -> (member: Member, now: Int64)? {
        guard let entry = nextQueued(), let member = take(entry.slot) else { return nil }
        return (member, batchNow)
    }

    /// Like ``takeNext()``, but also takes timers of the batch that were queued anew since it began,
    /// at their turns in it, if they are still in the queue and due now.
    ///
    /// - Parameters:
    ///   - clock: Returns the current time; called for a timer whose date has changed.
    ///   - slot: Returns the slot of a timer; `nil` if it has left the queue.
    /// - Returns: The timer, and the time for which it is due: that of the batch, so that dates
    ///   which pass while handlers run count for the next fire, or its own date if that is later.
    mutating func takeNextOrDisplaced(
        _ clock: () -> Int64,
        slot: (Member) -> HeapSlot?
    ) -> (member: Member, now: Int64)? {
        let entry = nextQueued()
        while let displaced = takeDisplaced(before: entry) {
            // A timer that is being called is not queued.
            guard let slot = slot(displaced), let entry = queued(slot) else { continue }
            guard entry.rank <= clock(), let member = take(slot) else { continue }
            return (member, max(entry.rank, batchNow))
        }
        return takeNext()
    }

    /// The first queued timer of the batch; sets aside timers before it that are too late for the
    /// batch.
    @inline(__always)
    private mutating func nextQueued() -> OrderedHeap.Entry? {
        while let entry = firstByDate, entry.rank <= batchNow {
            if entry.tag < batchNumber { return entry }
            setAside(entry)
        }
        return nil
    }

    @inline(never)
    private mutating func setAside(_ entry: OrderedHeap.Entry) {
        strict.remove(entry.slot)
        tolerant.remove(entry.slot)
        latecomers.insert(entry.slot, entry.turn, tag: entry.tag)
    }

    /// Ends the first displaced turn of the innermost batch, if it comes before that of an entry.
    private mutating func takeDisplaced(before entry: OrderedHeap.Entry?) -> Member? {
        guard hasDisplaced, let first = batches[batches.count - 1].firstTurn else { return nil }
        if let entry, !(first < entry.turn) { return nil }
        defer { innermostBatchDidChange() }
        return batches[batches.count - 1].takeFirst()
    }

    @inline(__always)
    private mutating func take(_ slot: HeapSlot) -> Member? {
        let member = members[slot]
        if batches.count > 1 { keepTurn(of: slot, inBatchesBefore: batches.count - 1) }
        unschedule(slot)
        // The next timer's memory arrives while this one's handler runs: firing one of 10,000
        // timers took 260 ns without this and takes 190.
        if let next = strict.first { members.prefetchMember(of: next.slot) }
        return member
    }

    /// Keeps the turn of a timer that is about to leave its slot in the batches that hold it.
    mutating func keepTurn(of slot: HeapSlot) {
        if !batches.isEmpty { keepTurn(of: slot, inBatchesBefore: batches.count) }
    }

    private mutating func keepTurn(of slot: HeapSlot, inBatchesBefore end: Int) {
        guard let entry = queued(slot), let member = members[slot] else { return }
        for batch in 0..<end where batches[batch].holds(entry) {
            batches[batch].displace(member, entry.turn)
        }
        innermostBatchDidChange()
    }

    @inline(__always)
    private func queued(_ slot: HeapSlot) -> OrderedHeap.Entry? {
        strict.entry(of: slot) ?? tolerant.entry(of: slot) ?? latecomers.entry(of: slot)
    }

    private var firstByDate: OrderedHeap.Entry? {
        @inline(__always)
        get {
            guard let strict = strict.first else { return tolerant.first }
            guard let tolerant = tolerant.first else { return strict }
            return tolerant.turn < strict.turn ? tolerant : strict
        }
    }
}

/// The interval in which a sleep is to end, in nanoseconds of the loop's clock.
struct WakeWindow: Equatable {
    var earliest: Int64
    var latest: Int64
}

extension OrderedHeap {
    /// The first date; the largest number if the heap is empty.
    fileprivate var soonest: Int64 {
        @inline(__always)
        get { first?.rank ?? .max }
    }
}
