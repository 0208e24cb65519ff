/// A queue of places in ascending order of their ranks, from which any place can be taken in O(log
/// n).
///
/// The heap is 4-ary and lies in one piece of memory, an entry in 16 bytes: the four children of an
/// entry share a cache line. Each place's position is kept beside it, so that removal needs no
/// search. A place is a small number that the owner of the heap gives out (see ``HeapSlots``); the
/// owner also knows which of two places with the same rank comes first.
struct OrderedHeap {
    struct Entry {
        var rank: Int64
        var place: HeapSlot
        /// What the owner of the heap wants to know again.
        var mark: UInt32
    }

    private var entries: [Entry] = []
    private var positions: [Int32] = []

    private static let absent: Int32 = -1
    private static let arity = 4

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var first: Entry? { entries.first }
    /// Every entry, in no particular order but with the first one first.
    var unordered: [Entry] { entries }

    func contains(_ place: HeapSlot) -> Bool {
        Int(place) < positions.count && positions[Int(place)] != Self.absent
    }

    func entry(of place: HeapSlot) -> Entry? {
        contains(place) ? entries[Int(positions[Int(place)])] : nil
    }

    mutating func changeMarks(_ change: (UInt32) -> UInt32) {
        for index in entries.indices { entries[index].mark = change(entries[index].mark) }
    }

    /// - Precondition: The place is not in the queue.
    mutating func insert(
        _ place: HeapSlot,
        rank: Int64,
        mark: UInt32 = 0,
        _ turns: borrowing some SlotOrder
    ) {
        assert(!contains(place), "Bug in UVRunLoop: a place was queued twice.")
        while positions.count <= Int(place) { positions.appendCompactly(Self.absent) }
        let entry = Entry(rank: rank, place: place, mark: mark)
        entries.appendCompactly(entry)
        // The only one, as a signalled source mostly is, has nobody to pass.
        guard entries.count > 1 else {
            positions[Int(place)] = 0
            return
        }
        Self.rise(entry, from: entries.count - 1, &entries, &positions, turns)
    }

    /// Takes the place out, if it is in.
    mutating func remove(_ place: HeapSlot, _ turns: borrowing some SlotOrder) {
        guard contains(place) else { return }
        let hole = Int(positions[Int(place)])
        positions[Int(place)] = Self.absent
        let last = entries.removeLast()
        guard hole < entries.count else { return }
        // What came last may belong above the hole as well as below it.
        let parent = (hole - 1) / Self.arity
        if hole > 0, Self.isBefore(last, entries[parent], turns) {
            Self.rise(last, from: hole, &entries, &positions, turns)
        } else {
            Self.sink(last, from: hole, &entries, &positions, turns)
        }
    }

    // The two loops below are where timers spend their time. Every index in them is a position in
    // the heap, a place of one of its entries, or was compared with the count: it is not checked
    // once more.

    /// Moves ancestors down into the hole until the entry may go there.
    private static func rise(
        _ entry: Entry,
        from hole: Int,
        _ entries: inout [Entry],
        _ positions: inout [Int32],
        _ turns: borrowing some SlotOrder
    ) {
        var entries = entries.mutableSpan
        var positions = positions.mutableSpan
        var hole = hole
        while hole > 0 {
            let parent = (hole - 1) / arity
            let above = unsafe entries[unchecked: parent]
            guard isBefore(entry, above, turns) else { break }
            unsafe entries[unchecked: hole] = above
            unsafe positions[unchecked: Int(above.place)] = Int32(truncatingIfNeeded: hole)
            hole = parent
        }
        unsafe entries[unchecked: hole] = entry
        unsafe positions[unchecked: Int(entry.place)] = Int32(truncatingIfNeeded: hole)
    }

    /// Moves descendants up into the hole until the entry may go there.
    private static func sink(
        _ entry: Entry,
        from hole: Int,
        _ entries: inout [Entry],
        _ positions: inout [Int32],
        _ turns: borrowing some SlotOrder
    ) {
        let count = entries.count
        var entries = entries.mutableSpan
        var positions = positions.mutableSpan
        var hole = hole
        while true {
            let start = hole &* arity &+ 1
            guard start < count else { break }
            let child = firstChild(from: start, of: count, entries.span, turns)
            let below = unsafe entries[unchecked: child]
            guard isBefore(below, entry, turns) else { break }
            unsafe entries[unchecked: hole] = below
            unsafe positions[unchecked: Int(below.place)] = Int32(truncatingIfNeeded: hole)
            hole = child
        }
        unsafe entries[unchecked: hole] = entry
        unsafe positions[unchecked: Int(entry.place)] = Int32(truncatingIfNeeded: hole)
    }

    /// Which of the children that begin at a position comes first.
    ///
    /// Among four of different ranks it is chosen without a jump, because no processor can predict
    /// that one: this saved a tenth of the time to fire one of 10,000 timers.
    @inline(__always)
    private static func firstChild(
        from start: Int,
        of count: Int,
        _ entries: Span<Entry>,
        _ turns: borrowing some SlotOrder
    ) -> Int {
        guard start &+ 3 < count else { return firstOfAny(from: start, of: count, entries, turns) }
        let first = unsafe entries[unchecked: start].rank
        let second = unsafe entries[unchecked: start &+ 1].rank
        let third = unsafe entries[unchecked: start &+ 2].rank
        let fourth = unsafe entries[unchecked: start &+ 3].rank
        let (left, right) = (min(first, second), min(third, fourth))
        guard first != second, third != fourth, left != right else {
            return firstOfAny(from: start, of: count, entries, turns)
        }
        let leftChild = second < first ? 1 : 0
        let rightChild = 2 | (fourth < third ? 1 : 0)
        let choice = right < left ? -1 : 0
        return start &+ (leftChild ^ ((leftChild ^ rightChild) & choice))
    }

    /// The same for fewer than four, and for those of which some have the same rank.
    @inline(never)
    private static func firstOfAny(
        from start: Int,
        of count: Int,
        _ entries: Span<Entry>,
        _ turns: borrowing some SlotOrder
    ) -> Int {
        var child = start
        for index in start &+ 1..<min(start &+ arity, count)
        where isBefore(entries[index], entries[child], turns) {
            child = index
        }
        return child
    }

    @inline(__always)
    private static func isBefore(
        _ one: Entry,
        _ other: Entry,
        _ turns: borrowing some SlotOrder
    ) -> Bool {
        one.rank == other.rank
            ? isTurnBefore(one.place, other.place, turns) : one.rank < other.rank
    }

    @inline(never)
    private static func isTurnBefore(
        _ one: HeapSlot,
        _ other: HeapSlot,
        _ turns: borrowing some SlotOrder
    ) -> Bool {
        turns.isBefore(one, other)
    }
}

/// Knows in which order places with the same rank have their turns.
protocol SlotOrder {
    func isBefore(_ one: HeapSlot, _ other: HeapSlot) -> Bool
}

/// The serial numbers of a queue's members, by their places.
struct Serials: SlotOrder {
    private var numbers: [UInt64] = []

    subscript(place: HeapSlot) -> UInt64 {
        get { numbers[Int(place)] }
        set {
            while numbers.count <= Int(place) { numbers.appendCompactly(0) }
            numbers[Int(place)] = newValue
        }
    }

    func isBefore(_ one: HeapSlot, _ other: HeapSlot) -> Bool { self[one] < self[other] }
}

/// A number that stands for one member of a queue; small, dense and used again after its member
/// left.
typealias HeapSlot = Int32

/// Gives out the places of a queue and remembers whose they are.
struct HeapSlots<Owner> {
    private var owners: [Owner?] = []
    private var vacant: [HeapSlot] = []

    /// The place's owner.
    subscript(place: HeapSlot) -> Owner? { owners[Int(place)] }

    /// Those who have a place.
    var all: [Owner] { owners.compactMap(\.self) }

    mutating func take(for owner: Owner) -> HeapSlot {
        if let place = vacant.popLast() {
            owners[Int(place)] = owner
            return place
        }
        owners.appendCompactly(owner)
        return HeapSlot(owners.count - 1)
    }

    /// Frees a place; answers whose it was, for the caller to let go of.
    @discardableResult
    mutating func give(back place: HeapSlot) -> Owner? {
        vacant.append(place)
        return owners[Int(place)].take()
    }
}

extension Array {
    /// Appends with room for half as much more, not for as much again: there may be a million timers.
    @inline(__always)
    fileprivate mutating func appendCompactly(_ element: Element) {
        if count == capacity { reserveCapacity(count + count / 2 + 8) }
        append(element)
    }
}
