/// A queue of slots in ascending order of their ranks, from which any slot can be removed in
/// O(log n).
///
/// The heap is 4-ary, and an entry takes 16 bytes: the four children of an entry are adjacent and
/// take 64. The position of each slot is stored beside it, so that removal needs no
/// search. The owner of the heap gives the slots out (see ``HeapMembers``), and knows which of two
/// with the same rank comes first.
struct OrderedHeap: ~Copyable {
    struct Entry {
        var rank: Int64
        var slot: HeapSlot
        /// A number for the owner of the heap.
        var mark: UInt32
    }

    private var entries = OwnedArray<Entry>()
    private var positions = OwnedArray<Int32>()

    private static let absent: Int32 = -1
    private static let arity = 4

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var first: Entry? { entries.isEmpty ? nil : entries[0] }
    /// Every entry, in no particular order but with the first one first.
    var unordered: [Entry] { entries.indices.map { entries[$0] } }

    func contains(_ slot: HeapSlot) -> Bool {
        Int(slot) < positions.count && positions[Int(slot)] != Self.absent
    }

    func entry(of slot: HeapSlot) -> Entry? {
        contains(slot) ? entries[Int(positions[Int(slot)])] : nil
    }

    mutating func changeMarks(_ change: (UInt32) -> UInt32) {
        for index in entries.indices { entries[index].mark = change(entries[index].mark) }
    }

    /// - Precondition: The slot is not in the queue.
    @inline(__always)
    mutating func insert(
        _ slot: HeapSlot,
        rank: Int64,
        mark: UInt32 = 0,
        _ turns: borrowing some SlotOrder & ~Copyable
    ) {
        assert(!contains(slot), "Bug in UVRunLoop: a slot was queued twice.")
        while positions.count <= Int(slot) { positions.append(Self.absent) }
        let entry = Entry(rank: rank, slot: slot, mark: mark)
        entries.append(entry)
        // A sole entry, as of one signalled source, has no parent.
        guard entries.count > 1 else {
            positions[Int(slot)] = 0
            return
        }
        rise(entry, from: entries.count - 1, turns)
    }

    /// Removes a slot, if it is in the queue.
    @inline(__always)
    mutating func remove(_ slot: HeapSlot, _ turns: borrowing some SlotOrder & ~Copyable) {
        guard contains(slot) else { return }
        let hole = Int(positions[Int(slot)])
        positions[Int(slot)] = Self.absent
        let last = entries.removeLast()
        guard hole < entries.count else { return }
        // The last entry belongs near the bottom, or above the hole in another branch.
        rise(last, from: sink(hole, turns), turns)
    }

    // Most of the time of timers is spent in the two loops below.

    /// Moves ancestors down into the hole until the entry may go there.
    @inline(__always)
    private mutating func rise(
        _ entry: Entry,
        from hole: Int,
        _ turns: borrowing some SlotOrder & ~Copyable
    ) {
        var hole = hole
        while hole > 0 {
            let parent = (hole - 1) / Self.arity
            let above = entries[parent]
            guard Self.isBefore(entry, above, turns) else { break }
            entries[hole] = above
            positions[Int(above.slot)] = Int32(truncatingIfNeeded: hole)
            hole = parent
        }
        entries[hole] = entry
        positions[Int(entry.slot)] = Int32(truncatingIfNeeded: hole)
    }

    /// Moves the first descendants up into a hole until the hole is at the bottom.
    ///
    /// - Returns: Where the hole is then.
    @inline(__always)
    private mutating func sink(
        _ hole: Int,
        _ turns: borrowing some SlotOrder & ~Copyable
    ) -> Int {
        let count = entries.count
        var hole = hole
        while true {
            let start = hole &* Self.arity &+ 1
            guard start < count else { return hole }
            let child = firstChild(from: start, of: count, turns)
            let below = entries[child]
            entries[hole] = below
            positions[Int(below.slot)] = Int32(truncatingIfNeeded: hole)
            hole = child
        }
    }

    /// Returns the position of the first of the children that begin at a position.
    ///
    /// Four children of different ranks are compared without a branch, which no processor could
    /// predict: this saved a tenth of the time to fire one of 10,000 timers.
    @inline(__always)
    private func firstChild(
        from start: Int,
        of count: Int,
        _ turns: borrowing some SlotOrder & ~Copyable
    ) -> Int {
        guard start &+ 3 < count else { return firstOfAny(from: start, of: count, turns) }
        let first = entries[start].rank
        let second = entries[start &+ 1].rank
        let third = entries[start &+ 2].rank
        let fourth = entries[start &+ 3].rank
        let (left, right) = (min(first, second), min(third, fourth))
        guard first != second, third != fourth, left != right else {
            return firstOfAny(from: start, of: count, turns)
        }
        let leftChild = second < first ? 1 : 0
        let rightChild = 2 | (fourth < third ? 1 : 0)
        let choice = right < left ? -1 : 0
        return start &+ (leftChild ^ ((leftChild ^ rightChild) & choice))
    }

    /// The same for fewer than four children, and for equal ranks.
    @inline(never)
    private func firstOfAny(
        from start: Int,
        of count: Int,
        _ turns: borrowing some SlotOrder & ~Copyable
    ) -> Int {
        var child = start
        for index in start &+ 1..<min(start &+ Self.arity, count)
        where Self.isBefore(entries[index], entries[child], turns) {
            child = index
        }
        return child
    }

    @inline(__always)
    private static func isBefore(
        _ one: Entry,
        _ other: Entry,
        _ turns: borrowing some SlotOrder & ~Copyable
    ) -> Bool {
        one.rank == other.rank
            ? isTurnBefore(one.slot, other.slot, turns) : one.rank < other.rank
    }

    @inline(never)
    private static func isTurnBefore(
        _ one: HeapSlot,
        _ other: HeapSlot,
        _ turns: borrowing some SlotOrder & ~Copyable
    ) -> Bool {
        turns.isBefore(one, other)
    }
}
