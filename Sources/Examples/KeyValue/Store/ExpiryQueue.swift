/// A binary heap of slots by expiry date, with each slot's index in the heap.
struct ExpiryQueue {
    private struct Element {
        var date: WallTime
        var slot: Int
    }

    private var heap: [Element] = []
    /// Each slot's index in the heap, or -1; it grows to the highest slot that ever had a date.
    private var places: [Int32] = []

    var count: Int { heap.count }

    /// The slot that expires first, and its date.
    var first: (slot: Int, date: WallTime)? { heap.first.map { ($0.slot, $0.date) } }

    /// Sets the date of a slot, whether or not it had one.
    mutating func set(_ slot: Int, to date: WallTime) {
        if slot >= places.count {
            places.append(contentsOf: repeatElement(-1, count: slot + 1 - places.count))
        }
        let place = Int(places[slot])
        guard place >= 0 else {
            heap.append(Element(date: date, slot: slot))
            places[slot] = Int32(heap.count - 1)
            moveUp(heap.count - 1)
            return
        }
        let old = heap[place].date
        heap[place].date = date
        if date < old { moveUp(place) } else { moveDown(place) }
    }

    /// Removes the date of a slot, if it has one.
    mutating func remove(_ slot: Int) {
        guard slot < places.count, places[slot] >= 0 else { return }
        let place = Int(places[slot])
        places[slot] = -1
        let last = heap.removeLast()
        guard place < heap.count else { return }
        heap[place] = last
        places[last.slot] = Int32(place)
        moveUp(place)
        moveDown(Int(places[last.slot]))
    }

    private mutating func moveUp(_ start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            if heap[parent].date <= heap[place].date { return }
            swap(place, parent)
            place = parent
        }
    }

    private mutating func moveDown(_ start: Int) {
        var place = start
        while true {
            var least = place
            for child in 2 * place + 1...2 * place + 2 where child < heap.count {
                if heap[child].date < heap[least].date { least = child }
            }
            if least == place { return }
            swap(place, least)
            place = least
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        places[heap[one].slot] = Int32(one)
        places[heap[other].slot] = Int32(other)
    }
}
