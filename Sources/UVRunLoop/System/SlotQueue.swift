/// Items on their way from any thread to one that takes them: the blocks and the jobs of a loop.
///
/// They lie in segments of some slots each. One word, the tail, names the segment that is being
/// filled and counts its reserved slots: one addition reserves a slot and says in which segment it
/// is. The sender fills the slot and stores its mark.
///
/// - A slot is the sender's until it is marked, then the taker's.
/// - A sender that finds the segment full puts the next one into the tail, under the segments'
///   lock. Additions made in between are lost; their senders have touched no segment, and try
///   again.
/// - The taker reads the tail and takes every marked slot before it, in order. It passes over slots
///   without a mark: their senders have not returned, so whatever it takes first comes first. It
///   never waits for them. The stores of marks and the taker's loads are sequentially consistent,
///   as are the accesses of ``GenericWakeState``: the taker finds the mark of a slot, or the sender
///   finds that it has to wake the taker.
/// - A segment is recycled when all its slots were taken and the tail names another one. Every
///   sender with a slot in it has then stored its mark, which is the last it does with a segment,
///   and no addition will give out a slot of it.
/// - Closing replaces the tail by a word that is full for ever. The taker then takes again and
///   again until every slot that was reserved before is marked.
final class SlotQueue<
    Word: AtomicWord & ~Copyable,
    Segments: SlotSegments & ~Copyable
>: Sendable {
    /// A segment and the index of a slot in it.
    typealias Slot = UInt64
    typealias Place = Segments.Place

    /// The end of a queue into which nothing was ever put.
    static var nothing: Slot { Segments.noSegment }

    /// How far the taker has come.
    struct Reader: Hashable {
        /// The first slot that it is not done with.
        fileprivate(set) var first = Segments.noSegment
        /// Up to where all slots behind that one were taken, if it is reserved and was not marked
        /// when the taker came.
        ///
        /// Otherwise every scan past a sender that is held up would visit again the slots that were
        /// taken since; past a second such sender, it does.
        fileprivate var takenUpTo: Slot?

        var hasPassedOver: Bool { takenUpTo != nil }
    }

    // The tail has a cache line to itself: every sender writes it.
    private let spaceBefore = InlineArray<8, UInt64>(repeating: 0)
    private let tail = Word(Segments.noSegment)
    private let spaceAfter = InlineArray<8, UInt64>(repeating: 0)
    let segments = Segments()

    init() {}

    // MARK: Any thread

    /// Leaves an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - mark: A number that the taker gets with it, at least ``SlotMark/first``.
    /// - Returns: `false` when the queue is closed.
    @inline(__always)
    func post(_ item: consuming Segments.Item, mark: UInt64) -> Bool {
        guard let slot = reserve() else { return false }
        fill(slot, with: item, mark: mark)
        return true
    }

    /// Fills a reserved slot and marks it.
    @inline(__always)
    func fill(_ slot: Slot, with item: consuming Segments.Item, mark: UInt64) {
        let place = Segments.place(of: slot)
        segments.fill(place, with: item)
        segments.storeMark(mark, at: place)
    }

    /// Reserves a slot, for the caller to ``fill(_:with:mark:)``; `nil` when the queue is closed.
    @inline(__always)
    func reserve() -> Slot? {
        let slot = tail.addSequential(1)
        return Segments.isSlot(slot) ? slot : reserveElsewhere()
    }

    /// Reserves a slot after the segment was found full; `nil` when the queue is closed.
    @inline(never)
    private func reserveElsewhere() -> Slot? {
        while true {
            let isOpen = segments.withLock { changeSegment() }
            guard isOpen else { return nil }
            let slot = tail.addSequential(1)
            if Segments.isSlot(slot) { return slot }
        }
    }

    /// Puts the next segment into the tail if that is full; returns whether the queue is open.
    ///
    /// Called under the lock, which every change of the tail's segment is made under.
    private func changeSegment() -> Bool {
        let full = tail.loadSequential()
        if Segments.isSlot(full) { return true }
        let isOpen = full & Segments.closed == 0
        // A closed tail is put back too, so that the additions never reach its upper bits.
        tail.storeSequential(isOpen ? segments.makeSegment(after: full) : Segments.closedTail)
        return isOpen
    }

    // MARK: The taker

    /// The end of what has been reserved so far; differs from every earlier one if an item came.
    var end: Slot { tail.loadSequential() }

    /// The mark of the next item, if it has come.
    @inline(__always)
    func peek(_ reader: Reader) -> UInt64? {
        guard Segments.isSlot(reader.first) else { return nil }
        let mark = segments.loadMark(at: Segments.place(of: reader.first))
        return mark >= SlotMark.first ? mark : nil
    }

    /// Takes the next item, if it has come.
    ///
    /// - Parameters:
    ///   - reader: How far the taker has come.
    ///   - body: Takes the item out of its slot, given the slot's place and the mark.
    /// - Returns: The result of the body.
    @inline(__always)
    func takeFirst<Result>(
        _ reader: inout Reader,
        _ body: (Place, UInt64) -> Result
    ) -> Result? {
        enterNextSegmentAtEnd(&reader)
        guard let mark = peek(reader) else { return nil }
        let place = Segments.place(of: reader.first)
        let result = body(place, mark)
        segments.clearMark(at: place)
        (reader.first, reader.takenUpTo) = (reader.first &+ 1, nil)
        return result
    }

    /// Goes on to the next segment, if there is one, at the end of a segment.
    @inline(__always)
    func enterNextSegmentAtEnd(_ reader: inout Reader) {
        if !Segments.isSlot(reader.first) { enterNextSegment(&reader) }
    }

    @inline(never)
    private func enterNextSegment(_ reader: inout Reader) {
        let end = end
        guard end & Segments.closed == 0, !Segments.areTogether(reader.first, end) else { return }
        reader.first = follow(reader.first, recycles: true)
    }

    /// Whether there may be items behind one that has not come.
    @inline(__always)
    func mayHoldMore(_ reader: Reader) -> Bool { end != reader.first }

    /// Takes the items at the front that have one mark.
    ///
    /// The loop calls nothing and has all it needs in registers: a block takes 11 instructions here,
    /// and 22 there.
    ///
    /// - Parameters:
    ///   - reader: How far the taker has come.
    ///   - end: Up to where items are taken.
    ///   - mark: The mark.
    ///   - takeRun: Called for each segment, with the greatest number of items that it may have and
    ///     a function that takes them. That is called with a function that takes an item out of its
    ///     slot, given the slot's place, and returns the number of items that were there.
    /// - Returns: Whether there may be items that are left to ``take(_:upTo:_:)``.
    @inline(__always)
    func takeFront(
        _ reader: inout Reader,
        upTo end: Slot,
        mark: UInt64,
        _ takeRun: (_ most: Int, _ take: (_ body: (Place) -> Void) -> Int) -> Void
    ) -> Bool {
        while reader.first != end {
            guard !reader.hasPassedOver, end & Segments.closed == 0 else { return true }
            guard Segments.isSlot(reader.first) else {
                // The end may count additions of senders that found the segment full.
                if Segments.areTogether(reader.first, end) { return false }
                reader.first = follow(reader.first, recycles: true)
                continue
            }
            let last = Segments.lastSlot(after: reader.first, upTo: end)
            var slot = reader.first
            takeRun(Int(truncatingIfNeeded: last &- slot)) { body in
                var place = Segments.place(of: slot)
                while slot != last, segments.loadMark(at: place) == mark {
                    body(place)
                    segments.clearMark(at: place)
                    place = Segments.place(after: place)
                    slot &+= 1
                }
                return Int(truncatingIfNeeded: slot &- reader.first)
            }
            reader.first = slot
            if slot != last { return true }
        }
        return reader.hasPassedOver
    }

    /// Takes every item before an end, in order, but for those that have not come yet.
    ///
    /// - Parameters:
    ///   - reader: How far the taker has come.
    ///   - end: The end.
    ///   - body: Takes the item out of its slot, given the slot's place and the mark.
    @inline(__always)
    func take(_ reader: inout Reader, upTo end: Slot, _ body: (Place, UInt64) -> Void) {
        guard end & Segments.closed == 0 else { return }
        var slot = reader.first
        while slot != end {
            if Segments.isSlot(slot) {
                let last = Segments.lastSlot(after: slot, upTo: end)
                takeMarked(&slot, upTo: last, body)
                if slot != last { return takeBehind(slot, &reader, upTo: end, body) }
            } else {
                if Segments.areTogether(slot, end) { break }
                slot = follow(slot, recycles: true)
            }
        }
        reader = Reader(first: slot)
    }

    /// Takes the slots of one segment up to the first that is not marked.
    @inline(__always)
    private func takeMarked(
        _ slot: inout Slot,
        upTo last: Slot,
        _ body: (Place, UInt64) -> Void
    ) {
        var place = Segments.place(of: slot)
        while slot != last {
            let mark = segments.loadMark(at: place)
            if mark >= SlotMark.first { body(place, mark) } else if mark == SlotMark.none { return }
            segments.clearMark(at: place)
            place = Segments.place(after: place)
            slot &+= 1
        }
    }

    /// Takes what has come behind a slot that was reserved and is not marked yet.
    @inline(never)
    private func takeBehind(
        _ missing: Slot,
        _ reader: inout Reader,
        upTo end: Slot,
        _ body: (Place, UInt64) -> Void
    ) {
        let known = reader.first == missing ? reader.takenUpTo : nil
        var slot = known ?? missing + 1
        var nextMissing: Slot?
        defer { reader = Reader(first: missing, takenUpTo: nextMissing ?? slot) }
        while slot != end {
            guard Segments.isSlot(slot) else {
                if Segments.areTogether(slot, end) { return }
                slot = follow(slot, recycles: false)
                continue
            }
            let place = Segments.place(of: slot)
            let mark = segments.loadMark(at: place)
            if mark >= SlotMark.first {
                body(place, mark)
                segments.storeMark(SlotMark.taken, at: place)
            } else if mark == SlotMark.none, nextMissing == nil {
                nextMissing = slot
            }
            slot &+= 1
        }
    }

    /// The first slot of the next segment.
    @inline(never)
    private func follow(_ slot: Slot, recycles: Bool) -> Slot {
        segments.withLock {
            let next = segments.segment(after: slot)
            if recycles { segments.recycle(slot) }
            return next
        }
    }

    var isClosed: Bool { end & Segments.closed != 0 }

    /// Refuses items from now on; returns the end of those that were or will be marked.
    func close() -> Slot {
        segments.withLock { tail.exchange(Segments.closedTail) }
    }

    /// Takes everything that is left after ``close()``, and waits for senders that have not marked
    /// their slots yet.
    ///
    /// - Parameters:
    ///   - reader: How far the taker has come; that of an empty queue afterwards.
    ///   - end: The end that ``close()`` returned.
    ///   - body: Takes the item out of its slot, given the slot's place and the mark.
    func takeRest(_ reader: inout Reader, upTo end: Slot, _ body: (Place, UInt64) -> Void) {
        take(&reader, upTo: end, body)
        while reader.hasPassedOver {
            sleepBriefly()
            take(&reader, upTo: end, body)
        }
        didTakeLast(reader)
        reader = Reader()
    }

    /// To be called once everything was taken after ``close()``.
    func didTakeLast(_ reader: Reader) { segments.withLock { segments.recycle(reader.first) } }
}

/// The values of a slot's mark, other than those that were posted.
enum SlotMark {
    /// It is empty, or reserved.
    static var none: UInt64 { 0 }
    /// Its item was taken before one that came earlier.
    static var taken: UInt64 { 1 }
    static var first: UInt64 { 2 }
}

/// The memory of a ``SlotQueue``, and how its slots are numbered.
protocol SlotSegments: ~Copyable, Sendable {
    associatedtype Item
    /// Where a slot lies.
    associatedtype Place

    /// How many slots a segment has.
    static var capacity: UInt64 { get }
    /// The bits of a slot's index. There is room for an addition of every thread to a full segment.
    static var indexBits: UInt64 { get }
    /// A bit that no slot has.
    static var closed: UInt64 { get }

    init()

    func withLock<Result>(_ body: () -> Result) -> Result
    /// Makes a segment to follow that of a slot; returns its first slot. Under the lock.
    func makeSegment(after slot: UInt64) -> UInt64
    func segment(after slot: UInt64) -> UInt64
    func recycle(_ slot: UInt64)

    static func place(of slot: UInt64) -> Place
    /// Where the next slot of the same segment lies.
    static func place(after place: Place) -> Place

    func fill(_ place: Place, with item: consuming Item)
    func storeMark(_ mark: UInt64, at place: Place)
    func loadMark(at place: Place) -> UInt64
    /// Empties a slot that was taken, for the next sender that reserves it.
    func clearMark(at place: Place)
}

extension SlotSegments where Self: ~Copyable {
    /// The full segment before the first one.
    static var noSegment: UInt64 { capacity }
    static var closedTail: UInt64 { closed | capacity }

    @inline(__always)
    static func isSlot(_ slot: UInt64) -> Bool { slot & indexBits < capacity }

    /// The end of what lies in a slot's segment, from that slot up to an end.
    @inline(__always)
    static func lastSlot(after slot: UInt64, upTo end: UInt64) -> UInt64 {
        let full = slot & ~indexBits | capacity
        return areTogether(slot, end) ? min(end, full) : full
    }

    @inline(__always)
    static func areTogether(_ slot: UInt64, _ other: UInt64) -> Bool {
        (slot ^ other) & ~indexBits == 0
    }
}
