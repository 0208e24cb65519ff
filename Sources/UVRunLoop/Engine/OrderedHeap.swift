/// A queue of slots in the order of their turns, from which any slot can be removed in O(log n).
///
/// The heap is 4-ary, and the four children of an entry are adjacent. The position of each slot is
/// stored beside it, so that removal needs no search. Slots are the small numbers of
/// ``HeapMembers``.
struct OrderedHeap: ~Copyable {
    struct Entry {
        var turn: Turn
        var slot: HeapSlot
        /// A number that the owner of the heap gives the entry.
        var tag: UInt32

        var rank: Int64 { turn.rank }
    }

    private var entries = OwnedArray<Entry>()
    private var positions = OwnedArray<Int32>()

    private static let absent: Int32 = -1
    private static let arity = 4

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var first: Entry? { entries.isEmpty ? nil : entries[0] }

    func contains(_ slot: HeapSlot) -> Bool {
        Int(slot) < positions.count && positions[Int(slot)] != Self.absent
    }

    func entry(of slot: HeapSlot) -> Entry? {
        contains(slot) ? entries[Int(positions[Int(slot)])] : nil
    }

    /// Calls a body with each entry, in no particular order.
    @inline(__always)
    func forEach(_ body: (Entry) -> Void) {
        for index in entries.indices { body(entries[index]) }
    }

    mutating func changeTags(_ change: (UInt32) -> UInt32) {
        for index in entries.indices { entries[index].tag = change(entries[index].tag) }
    }

    /// - Precondition: The slot is not in the queue.
    @inline(__always)
    mutating func insert(_ slot: HeapSlot, _ turn: Turn, tag: UInt32 = 0) {
        assert(!contains(slot), "Bug in UVRunLoop: a slot was queued twice.")
        while positions.count <= Int(slot) { positions.append(Self.absent) }
        let entry = Entry(turn: turn, slot: slot, tag: tag)
        entries.append(entry)
        // A sole entry, as of one signalled source, has no parent.
        guard entries.count > 1 else {
            positions[Int(slot)] = 0
            return
        }
        rise(entry, from: entries.count - 1)
    }

    /// Removes a slot, if it is in the queue.
    @inline(__always)
    mutating func remove(_ slot: HeapSlot) {
        guard contains(slot) else { return }
        let hole = Int(positions[Int(slot)])
        positions[Int(slot)] = Self.absent
        let last = entries.removeLast()
        guard hole < entries.count else { return }
        // The last entry belongs near the bottom, or above the hole in another branch.
        rise(last, from: sink(hole))
    }

    // Most of the time of timers is spent in the two loops below.

    /// Moves ancestors down into the hole until the entry may go there.
    @inline(__always)
    private mutating func rise(_ entry: Entry, from hole: Int) {
        var hole = hole
        while hole > 0 {
            let parent = (hole &- 1) / Self.arity
            guard entry.turn < entries[parent].turn else { break }
            move(parent, to: hole)
            hole = parent
        }
        entries[hole] = entry
        positions[Int(entry.slot)] = Int32(truncatingIfNeeded: hole)
    }

    /// Moves an entry into a hole, and leaves one.
    @inline(__always)
    private mutating func move(_ index: Int, to hole: Int) {
        let entry = entries[index]
        entries[hole] = entry
        positions[Int(entry.slot)] = Int32(truncatingIfNeeded: hole)
    }

    /// Moves the first descendants up into a hole until the hole is at the bottom.
    ///
    /// Which of four children is the first is computed without a branch, because no processor could
    /// predict one.
    ///
    /// - Returns: Where the hole is then.
    @inline(__always)
    private mutating func sink(_ hole: Int) -> Int {
        let count = entries.count
        var hole = hole
        while true {
            let start = hole &* Self.arity &+ 1
            guard start &+ 3 < count else { return sinkToLast(hole, from: start) }
            let left = start &+ precedes(start &+ 1, start)
            let right = start &+ 2 &+ precedes(start &+ 3, start &+ 2)
            let child = left &+ (right &- left) & (0 &- precedes(right, left))
            move(child, to: hole)
            hole = child
        }
    }

    /// The last step, to one of fewer than four children.
    @inline(__always)
    private mutating func sinkToLast(_ hole: Int, from start: Int) -> Int {
        guard start < entries.count else { return hole }
        var child = start
        for index in start &+ 1..<entries.count where entries[index].turn < entries[child].turn {
            child = index
        }
        move(child, to: hole)
        return child
    }

    /// 1 if one entry's turn comes before another's, otherwise 0.
    @inline(__always)
    private func precedes(_ one: Int, _ other: Int) -> Int {
        entries[one].turn < entries[other].turn ? 1 : 0
    }
}
