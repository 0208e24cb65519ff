/// When a sleep may end: not before `earliest`, and at the latest at `latest`.
///
/// Nanoseconds of the loop's clock.
struct Deadline: Equatable {
    var earliest: Int64
    var latest: Int64
}

/// The timers of one mode, soonest first.
///
/// Timers without tolerance are in one heap, by date. Those with tolerance are in two: by date,
/// which says what is due, and by the end of their windows, which says how long the loop may
/// sleep. Whoever uses no tolerance pays nothing for it.
struct TimerQueue<Member>: ~Copyable {
    /// The timers, each with a serial that tells when it was scheduled in this mode last: it settles
    /// the order among equal dates.
    var members = HeapMembers<Member>()
    private var strict = OrderedHeap()
    private var tolerant = OrderedHeap()
    private var windows = OrderedHeap()
    /// Timers that are due but came too late for the batch that is being fired.
    private var latecomers = OrderedHeap()
    /// The rounds of firing that are under way: each began in a handler of the one before it.
    private var batches: [Batch] = []
    private var batchCount: UInt32 = 0
    // Of the innermost batch, here too: they are asked for with every fire.
    private var batchNow: Int64 = 0
    private var batchNumber: UInt32 = 0
    /// Whether a timer of the innermost batch keeps a turn that the queue does not know of.
    private(set) var hasDisplaced = false

    /// Has a timer come after all that were scheduled before it for the same date.
    ///
    /// - Precondition: It is not queued.
    mutating func setSerial(_ serial: UInt64, of slot: HeapSlot) {
        members.setSerial(serial, of: slot)
    }

    /// Queues a timer.
    ///
    /// - Precondition: It is not queued.
    mutating func schedule(_ slot: HeapSlot, date: Int64, latest: Int64) {
        if latest > date {
            tolerant.insert(slot, rank: date, mark: batchCount, members)
            windows.insert(slot, rank: latest, mark: batchCount, members)
        } else {
            strict.insert(slot, rank: date, mark: batchCount, members)
        }
    }

    mutating func unschedule(_ slot: HeapSlot) {
        strict.remove(slot, members)
        if !windows.isEmpty {
            tolerant.remove(slot, members)
            windows.remove(slot, members)
        }
        if !latecomers.isEmpty { latecomers.remove(slot, members) }
    }

    /// The soonest date of a queued timer.
    var soonest: Int64? {
        let soonest = min(strict.soonest, tolerant.soonest, latecomers.soonest)
        return isEmpty ? nil : soonest
    }

    /// How long the timers let the loop sleep: until the first window closes.
    var deadline: Deadline? {
        let date = min(strict.soonest, latecomers.soonest)
        if let window = windows.first, window.rank < date {
            // The window opens at the date.
            return Deadline(earliest: queued(window.slot)?.rank ?? .min, latest: window.rank)
        }
        let hasDate = !strict.isEmpty || !latecomers.isEmpty
        return hasDate ? Deadline(earliest: date, latest: date) : nil
    }

    private var isEmpty: Bool { strict.isEmpty && tolerant.isEmpty && latecomers.isEmpty }

    // MARK: Batches

    /// One round of firing: the timers that were queued and due when it began.
    ///
    /// They stay queued until their turns come. One that is queued anew before its turn, because
    /// it got another date or left the mode and came back, keeps the turn.
    private struct Batch {
        let now: Int64
        /// Who was queued before it began has a smaller mark.
        var number: UInt32
        /// The turns of those that are not where they were, in order.
        var displaced: [Displaced] = []
        /// Those before this one have had their turns.
        var nextDisplaced = 0

        func holds(_ entry: OrderedHeap.Entry) -> Bool { entry.rank <= now && entry.mark < number }

        mutating func insert(_ turn: Displaced) {
            var (low, high) = (nextDisplaced, displaced.count)
            while low < high {
                let middle = low + (high - low) / 2
                if displaced[middle].turn < turn.turn { low = middle + 1 } else { high = middle }
            }
            displaced.insert(turn, at: low)
        }
    }

    /// A timer that keeps its turn in a batch although it is queued elsewhere, or not at all.
    struct Displaced {
        let member: Member
        fileprivate let turn: Turn
    }

    mutating func beginBatch(now: Int64) {
        // A nested round has none of its own yet: what was too late for the outer one is in time
        // for this.
        admitLatecomers()
        if batchCount == .max { renumberBatches() }
        batchCount += 1
        batches.append(Batch(now: now, number: batchCount))
        innermostBatchDidChange()
    }

    private mutating func innermostBatchDidChange() {
        guard let batch = batches.last else { return hasDisplaced = false }
        (batchNow, batchNumber) = (batch.now, batch.number)
        hasDisplaced = batch.nextDisplaced < batch.displaced.count
    }

    /// Ends the innermost batch.
    ///
    /// - Returns: What it held, for the caller to release.
    mutating func endBatch() -> [Member] {
        admitLatecomers()
        let batch = batches.popLast()
        innermostBatchDidChange()
        guard let batch, !batch.displaced.isEmpty else { return [] }
        return batch.displaced.map(\.member)
    }

    private mutating func admitLatecomers() {
        while let entry = latecomers.first {
            latecomers.remove(entry.slot, members)
            if windows.contains(entry.slot) {
                tolerant.insert(entry.slot, rank: entry.rank, mark: entry.mark, members)
            } else {
                strict.insert(entry.slot, rank: entry.rank, mark: entry.mark, members)
            }
        }
    }

    /// Begins the numbers of batches anew, with the same timers in those that are under way.
    mutating func renumberBatches() {
        let numbers = batches.map(\.number)
        let renumber = { (mark: UInt32) in UInt32(numbers.count { $0 <= mark }) }
        strict.changeMarks(renumber)
        tolerant.changeMarks(renumber)
        latecomers.changeMarks(renumber)
        for index in batches.indices { batches[index].number = UInt32(index + 1) }
        batchCount = UInt32(batches.count)
        innermostBatchDidChange()
    }

    /// Takes the next timer of the innermost batch out of the queue.
    ///
    /// - Returns: The timer, and the time for which it is due.
    mutating func takeNext() -> (member: Member, now: Int64)? {
        guard let entry = nextQueued(), let member = take(entry.slot) else { return nil }
        return (member, batchNow)
    }

    /// The same where some timers of the batch keep their turns although they are queued elsewhere:
    /// each of them is taken if it is still here, and due at this moment.
    ///
    /// - Parameters:
    ///   - clock: The present time; asked for a timer whose date was changed.
    ///   - slot: Where a timer is in this queue; `nil` for one that has left it.
    /// - Returns: The timer, and the time for which it is due: that of the batch as for all in it,
    ///   so that dates which pass while their handlers run count for the next time round; or its
    ///   own date when that is later.
    mutating func takeNextOrDisplaced(
        _ clock: () -> Int64,
        slot: (Member) -> HeapSlot?
    ) -> (member: Member, now: Int64)? {
        let entry = nextQueued()
        while let displaced = nextDisplaced(before: entry) {
            batches[batches.count - 1].nextDisplaced += 1
            innermostBatchDidChange()
            // One that is being called is not queued.
            guard let slot = slot(displaced.member), let entry = queued(slot) else { continue }
            guard entry.rank <= clock(), let member = take(slot) else { continue }
            return (member, max(entry.rank, batchNow))
        }
        return takeNext()
    }

    /// The first queued timer of the batch; those that come before it and are too late for the
    /// batch are put aside.
    private mutating func nextQueued() -> OrderedHeap.Entry? {
        while let entry = firstByDate, entry.rank <= batchNow {
            if entry.mark < batchNumber { return entry }
            strict.remove(entry.slot, members)
            tolerant.remove(entry.slot, members)
            latecomers.insert(entry.slot, rank: entry.rank, mark: entry.mark, members)
        }
        return nil
    }

    private func nextDisplaced(before entry: OrderedHeap.Entry?) -> Displaced? {
        guard hasDisplaced, let batch = batches.last else { return nil }
        let displaced = batch.displaced[batch.nextDisplaced]
        guard let entry else { return displaced }
        return displaced.turn < turn(of: entry) ? displaced : nil
    }

    private func turn(of entry: OrderedHeap.Entry) -> Turn {
        Turn(rank: entry.rank, serial: members.serial(of: entry.slot))
    }

    private mutating func take(_ slot: HeapSlot) -> Member? {
        let member = members[slot]
        if batches.count > 1 { keepTurn(of: slot, inBatchesBefore: batches.count - 1) }
        unschedule(slot)
        return member
    }

    /// Has a timer that is about to leave its slot in the queue keep its turn in the batches that
    /// hold it.
    mutating func keepTurn(of slot: HeapSlot) {
        if !batches.isEmpty { keepTurn(of: slot, inBatchesBefore: batches.count) }
    }

    private mutating func keepTurn(of slot: HeapSlot, inBatchesBefore end: Int) {
        guard let entry = queued(slot), let member = members[slot] else { return }
        let turn = turn(of: entry)
        for batch in 0..<end where batches[batch].holds(entry) {
            batches[batch].insert(Displaced(member: member, turn: turn))
        }
        innermostBatchDidChange()
    }

    private func queued(_ slot: HeapSlot) -> OrderedHeap.Entry? {
        strict.entry(of: slot) ?? tolerant.entry(of: slot) ?? latecomers.entry(of: slot)
    }

    private var firstByDate: OrderedHeap.Entry? {
        guard let strict = strict.first else { return tolerant.first }
        guard let tolerant = tolerant.first else { return strict }
        if strict.rank != tolerant.rank { return strict.rank < tolerant.rank ? strict : tolerant }
        return members.isBefore(tolerant.slot, strict.slot) ? tolerant : strict
    }
}

extension OrderedHeap {
    /// The first date, or the end of time when there is none.
    fileprivate var soonest: Int64 { first?.rank ?? .max }
}
