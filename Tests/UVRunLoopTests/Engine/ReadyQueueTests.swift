import Testing

@testable import UVRunLoop

/// Who of a mode's members is served next.
@Suite(.timeLimit(.minutes(15))) struct ReadyQueueTests {
    @Test func turnsGoByRankAndThenByTurn() {
        var queue = ReadyQueue()
        let ranks: [(slot: UInt32, rank: Int64, serial: UInt64)] = [
            (10, 5, 1), (11, -3, 4), (12, 5, 0), (13, -3, 3),
        ]
        for (slot, rank, serial) in ranks {
            queue.insert(queue.members.insert(slot), Turn(rank: rank, serial: serial))
        }
        #expect(queue.count == 4)
        #expect(queue.first == 13)
        #expect(queue.inOrder == [13, 11, 12, 10])
    }

    @Test func aMemberThatLeftHasNoTurn() {
        var queue = ReadyQueue()
        let places = (0..<4 as Range<UInt32>).map { queue.members.insert($0) }
        for place in places { queue.insert(place, Turn(rank: 0, serial: UInt64(place))) }
        queue.remove(places[0])
        queue.remove(places[2])
        queue.remove(places[2])
        #expect(!queue.contains(places[0]) && queue.contains(places[1]))
        #expect(queue.inOrder == [1, 3])
        queue.remove(places[1])
        queue.remove(places[3])
        #expect(queue.isEmpty && queue.first == nil && queue.inOrder == [])
    }

    @Test func aPlaceThatIsUsedAgainIsItsNewOwners() {
        var queue = ReadyQueue()
        let place = queue.members.insert(1)
        queue.insert(place, Turn(rank: 0, serial: 1))
        queue.remove(place)
        queue.members.remove(place)
        let again = queue.members.insert(2)
        #expect(again == place && !queue.contains(again))
        queue.insert(again, Turn(rank: 0, serial: 2))
        #expect(queue.first == 2)
    }
}

extension ReadyQueue {
    /// The slots of all members, in the order of their turns.
    fileprivate var inOrder: [UInt32] {
        var entries: [(slot: UInt32, turn: Turn)] = []
        forEach { entries.append(($0, $1)) }
        return entries.sorted { $0.turn < $1.turn }.map(\.slot)
    }
}
