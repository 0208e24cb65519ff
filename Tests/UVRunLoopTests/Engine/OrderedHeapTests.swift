import Testing

@testable import UVRunLoop

/// The heap, held against an array that is sorted anew for every question.
@Suite(.timeLimit(.minutes(15))) struct OrderedHeapTests {
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func theHeapAnswersAsASortedArrayWould(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = ModelHeap()
        var model: [HeapSlot: Turn] = [:]
        for serial in 1...3000 {
            let place = HeapSlot.random(in: 0..<150, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                heap.remove(place)
                model[place] = nil
            case 1:
                guard let first = heap.first else { continue }
                heap.remove(first.place)
                model[first.place] = nil
            default:
                guard model[place] == nil else { continue }
                let rank = Int64.random(in: -20...20, using: &generator)
                let key = Turn(rank: rank, serial: UInt64(serial))
                heap.insert(place, key)
                model[place] = key
            }
            expectAgreement(heap, model, at: place)
        }
        #expect(drained(&heap) == inOrder(model))
        #expect(heap.isEmpty)
    }

    @Test func equalRanksComeOutInTheOrderOfTheirSerialNumbers() {
        var generator = SeededGenerator(seed: 7)
        var heap = ModelHeap()
        for place in (0..<40 as Range<HeapSlot>).shuffled(using: &generator) {
            heap.insert(place, Turn(rank: 1, serial: UInt64(place)))
        }
        #expect(drained(&heap) == Array(0..<40))
    }

    @Test func extremeRanksAreOrderedLikeAnyOther() {
        var heap = ModelHeap()
        let ranks: [Int64] = [.max, 0, .min, .max - 1, -1, .min + 1]
        for (place, rank) in ranks.enumerated() {
            heap.insert(HeapSlot(place), Turn(rank: rank, serial: UInt64(place)))
        }
        #expect(drained(&heap) == [2, 5, 4, 1, 3, 0])
    }

    @Test func removingAPlaceThatIsNotInDoesNothing() {
        var heap = ModelHeap()
        heap.remove(12)
        heap.insert(3, Turn(rank: 1, serial: 1))
        heap.remove(2)
        heap.remove(400)
        #expect(heap.count == 1)
        heap.remove(3)
        heap.remove(3)
        #expect(heap.isEmpty && heap.first == nil && !heap.contains(3))
    }

    @Test func anyPlaceCanBeTakenOutAndTheRestStaysInOrder() {
        for victim in 0..<30 as Range<HeapSlot> {
            var generator = SeededGenerator(seed: UInt64(victim))
            var heap = ModelHeap()
            var model: [HeapSlot: Turn] = [:]
            for place in 0..<30 as Range<HeapSlot> {
                let rank = Int64.random(in: 0..<1000, using: &generator)
                model[place] = Turn(rank: rank, serial: UInt64(place))
                heap.insert(place, Turn(rank: rank, serial: UInt64(place)))
            }
            heap.remove(victim)
            model[victim] = nil
            #expect(drained(&heap) == inOrder(model))
        }
    }

    @Test func aPlaceIsGivenOutAgainOnlyAfterItWasGivenBack() {
        var places = HeapSlots<UInt32>()
        let given = (0..<5 as Range<UInt32>).map { places.take(for: $0) }
        #expect(Set(given).count == 5)
        #expect(given.map { places[$0] } == [0, 1, 2, 3, 4])
        #expect(places.give(back: given[2]) == 2)
        #expect(places[given[2]] == nil && places.all == [0, 1, 3, 4])
        #expect(places.take(for: 77) == given[2])
        #expect(places[given[2]] == 77)
        #expect(!given.contains(places.take(for: 78)))
    }
}

private func expectAgreement(
    _ heap: ModelHeap,
    _ model: [HeapSlot: Turn],
    at place: HeapSlot
) {
    let first = model.min { $0.value < $1.value }
    #expect(heap.count == model.count)
    #expect(heap.first?.place == first?.key)
    #expect(heap.firstTurn == first?.value)
    #expect(heap.contains(place) == (model[place] != nil))
    #expect(heap.unordered.first?.place == first?.key)
}

private func inOrder(_ model: [HeapSlot: Turn]) -> [HeapSlot] {
    model.sorted { $0.value < $1.value }.map(\.key)
}

private func drained(_ heap: inout ModelHeap) -> [HeapSlot] {
    var places: [HeapSlot] = []
    while let first = heap.first {
        places.append(first.place)
        heap.remove(first.place)
    }
    return places
}

/// A heap and who knows the turns of its places.
private struct ModelHeap {
    private var heap = OrderedHeap()
    private var serials = ModelTurns()

    var isEmpty: Bool { heap.isEmpty }
    var count: Int { heap.count }
    var first: OrderedHeap.Entry? { heap.first }
    var unordered: [OrderedHeap.Entry] { heap.unordered }
    var firstTurn: Turn? {
        heap.first.map { Turn(rank: $0.rank, serial: serials.numbers[$0.place] ?? 0) }
    }

    func contains(_ place: HeapSlot) -> Bool { heap.contains(place) }

    mutating func insert(_ place: HeapSlot, _ turn: Turn) {
        serials.numbers[place] = turn.serial
        heap.insert(place, rank: turn.rank, serials)
    }

    mutating func remove(_ place: HeapSlot) { heap.remove(place, serials) }
}

private struct ModelTurns: SlotOrder {
    var numbers: [HeapSlot: UInt64] = [:]

    func isBefore(_ one: HeapSlot, _ other: HeapSlot) -> Bool {
        (numbers[one] ?? 0) < (numbers[other] ?? 0)
    }
}
