/// The members of one mode that are ready, in the order of their turns.
///
/// One queue holds a mode's signalled custom sources, another its ready ports.
struct ReadyQueue: ~Copyable {
    var members = HeapMembers<UInt32>()
    private var heap = OrderedHeap()

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }

    mutating func insert(_ slot: HeapSlot, _ turn: Turn) {
        heap.insert(slot, turn)
    }

    mutating func remove(_ slot: HeapSlot) { heap.remove(slot) }

    func contains(_ slot: HeapSlot) -> Bool { heap.contains(slot) }

    /// The slot of the first member.
    var first: UInt32? { heap.first.flatMap { members[$0.slot] } }

    var firstTurn: Turn? { heap.first?.turn }

    /// Calls a body with the slot and the turn of every member, in no particular order.
    func forEach(_ body: (UInt32, Turn) -> Void) {
        for entry in heap.unordered {
            guard let item = members[entry.slot] else { continue }
            body(item, entry.turn)
        }
    }
}
