/// The members of one mode that have something to be served, and in which order.
///
/// One queue holds a mode's signalled custom sources, another its ready ports.
struct ReadyQueue {
    var places = Places()
    private var heap = OrderedHeap()

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }

    mutating func insert(_ place: Place, rank: Int64, serial: UInt64) {
        heap.insert(place, OrderedHeap.Key(rank: rank, serial: serial))
    }

    mutating func remove(_ place: Place) { heap.remove(place) }

    func contains(_ place: Place) -> Bool { heap.contains(place) }

    /// The slot of the member whose turn it is.
    var first: UInt32? { heap.first.map { places[$0.place] } }

    /// Names every member's slot and turn, in no particular order.
    func forEach(_ body: (UInt32, OrderedHeap.Key) -> Void) {
        for entry in heap.unordered { body(places[entry.place], entry.key) }
    }
}
