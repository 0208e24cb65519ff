/// A position in an order: lower ranks first, and among equal ranks lower serial numbers.
struct Turn: Comparable {
    var rank: Int64
    var serial: UInt64

    static func < (left: Turn, right: Turn) -> Bool {
        left.rank != right.rank ? left.rank < right.rank : left.serial < right.serial
    }
}

/// The members of one mode that are ready, in the order of their turns.
///
/// One queue holds a mode's signalled custom sources, another its ready ports.
struct ReadyQueue: ~Copyable {
    var members = HeapMembers<UInt32>()
    private var heap = OrderedHeap()

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }

    mutating func insert(_ slot: HeapSlot, _ turn: Turn) {
        members.setSerial(turn.serial, of: slot)
        heap.insert(slot, rank: turn.rank, members)
    }

    mutating func remove(_ slot: HeapSlot) { heap.remove(slot, members) }

    func contains(_ slot: HeapSlot) -> Bool { heap.contains(slot) }

    /// The slot of the first member.
    var first: UInt32? { heap.first.flatMap { members[$0.slot] } }

    /// Calls a body with the slot and the turn of every member, in no particular order.
    func forEach(_ body: (UInt32, Turn) -> Void) {
        for entry in heap.unordered {
            guard let item = members[entry.slot] else { continue }
            body(item, Turn(rank: entry.rank, serial: members.serial(of: entry.slot)))
        }
    }
}
