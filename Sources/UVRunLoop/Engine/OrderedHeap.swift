/// A queue of places in ascending order of their keys, from which any place can be taken in O(log
/// n).
///
/// The heap is 4-ary and lies in one piece of memory; each place's position is kept beside it, so
/// that removal needs no search. A place is a small number that the owner of the heap gives out
/// (see ``Places``).
struct OrderedHeap {
    /// What the queue is ordered by: first the rank, then the serial number, which is never used
    /// twice.
    struct Key: Comparable {
        var rank: Int64
        var serial: UInt64

        static func < (left: Key, right: Key) -> Bool {
            left.rank != right.rank ? left.rank < right.rank : left.serial < right.serial
        }
    }

    struct Entry {
        var key: Key
        var place: Place
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

    func contains(_ place: Place) -> Bool {
        Int(place) < positions.count && positions[Int(place)] != Self.absent
    }

    /// - Precondition: The place is not in the queue.
    mutating func insert(_ place: Place, _ key: Key) {
        assert(!contains(place), "Bug in UVRunLoop: a place was queued twice.")
        while positions.count <= Int(place) { positions.append(Self.absent) }
        entries.append(Entry(key: key, place: place))
        rise(from: entries.count - 1)
    }

    /// Takes the place out, if it is in.
    mutating func remove(_ place: Place) {
        guard contains(place) else { return }
        let hole = Int(positions[Int(place)])
        positions[Int(place)] = Self.absent
        let last = entries.removeLast()
        guard hole < entries.count else { return }
        entries[hole] = last
        sink(from: hole)
        if positions[Int(last.place)] == Int32(hole) { rise(from: hole) }
    }

    private mutating func put(_ entry: Entry, at position: Int) {
        entries[position] = entry
        positions[Int(entry.place)] = Int32(position)
    }

    private mutating func rise(from start: Int) {
        let entry = entries[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / Self.arity
            guard entry.key < entries[parent].key else { break }
            put(entries[parent], at: position)
            position = parent
        }
        put(entry, at: position)
    }

    private mutating func sink(from start: Int) {
        let entry = entries[start]
        var position = start
        while let child = smallestChild(of: position), entries[child].key < entry.key {
            put(entries[child], at: position)
            position = child
        }
        put(entry, at: position)
    }

    private func smallestChild(of position: Int) -> Int? {
        let start = position * Self.arity + 1
        guard start < entries.count else { return nil }
        var smallest = start
        for child in start + 1..<min(start + Self.arity, entries.count)
        where entries[child].key < entries[smallest].key {
            smallest = child
        }
        return smallest
    }
}

/// A number that stands for one member of a queue; small, dense and used again after its member
/// left.
typealias Place = Int32

/// Gives out the places of a queue and remembers whose they are.
struct Places {
    private var owners: [UInt32] = []
    private var vacant: [Place] = []

    /// The slot of the place's owner.
    subscript(place: Place) -> UInt32 { owners[Int(place)] }

    mutating func take(for owner: UInt32) -> Place {
        if let place = vacant.popLast() {
            owners[Int(place)] = owner
            return place
        }
        owners.append(owner)
        return Place(owners.count - 1)
    }

    mutating func give(back place: Place) { vacant.append(place) }
}
