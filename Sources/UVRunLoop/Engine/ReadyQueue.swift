/// Whose turn it is: the lower rank comes first, and among equal ones the lower serial number.
struct Turn: Comparable {
    var rank: Int64
    var serial: UInt64

    static func < (left: Turn, right: Turn) -> Bool {
        left.rank != right.rank ? left.rank < right.rank : left.serial < right.serial
    }
}

/// The members of one mode that have something to be served, and in which order.
///
/// One queue holds a mode's signalled custom sources, another its ready ports.
struct ReadyQueue {
    var places = HeapSlots<UInt32>()
    private var heap = OrderedHeap()
    private var serials = Serials()

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }

    mutating func insert(_ place: HeapSlot, _ turn: Turn) {
        serials[place] = turn.serial
        heap.insert(place, rank: turn.rank, serials)
    }

    mutating func remove(_ place: HeapSlot) { heap.remove(place, serials) }

    func contains(_ place: HeapSlot) -> Bool { heap.contains(place) }

    /// The slot of the member whose turn it is.
    var first: UInt32? { heap.first.flatMap { places[$0.place] } }

    /// Names every member's slot and turn, in no particular order.
    func forEach(_ body: (UInt32, Turn) -> Void) {
        for entry in heap.unordered {
            guard let slot = places[entry.place] else { continue }
            body(slot, Turn(rank: entry.rank, serial: serials[entry.place]))
        }
    }
}
