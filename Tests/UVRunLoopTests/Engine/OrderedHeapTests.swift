import Testing

@testable import UVRunLoop

/// The heap, held against an array that is sorted anew for every question.
@Suite(.timeLimit(.minutes(15))) struct OrderedHeapTests {
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func theHeapAnswersAsASortedArrayWould(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = OrderedHeap()
        var model: [HeapSlot: Turn] = [:]
        for serial in 1...3000 {
            let slot = HeapSlot.random(in: 0..<150, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                heap.remove(slot)
                model[slot] = nil
            case 1:
                guard let first = heap.first else { continue }
                heap.remove(first.slot)
                model[first.slot] = nil
            default:
                guard model[slot] == nil else { continue }
                let rank = Int64.random(in: -20...20, using: &generator)
                let key = Turn(rank: rank, serial: UInt64(serial))
                heap.insert(slot, key)
                model[slot] = key
            }
            expectAgreement(heap, model, at: slot)
        }
        let drained = drained(&heap)
        #expect(drained == inOrder(model))
        #expect(heap.count == 0)
    }

    @Test func equalRanksComeOutInTheOrderOfTheirSerialNumbers() {
        var generator = SeededGenerator(seed: 7)
        var heap = OrderedHeap()
        for slot in (0..<40 as Range<HeapSlot>).shuffled(using: &generator) {
            heap.insert(slot, Turn(rank: 1, serial: UInt64(slot)))
        }
        #expect(drained(&heap) == Array(0..<40))
    }

    @Test func extremeRanksAreOrderedLikeAnyOther() {
        var heap = OrderedHeap()
        let ranks: [Int64] = [.max, 0, .min, .max - 1, -1, .min + 1]
        for (slot, rank) in ranks.enumerated() {
            heap.insert(HeapSlot(slot), Turn(rank: rank, serial: UInt64(slot)))
        }
        #expect(drained(&heap) == [2, 5, 4, 1, 3, 0])
    }

    @Test func removingAPlaceThatIsNotInDoesNothing() {
        var heap = OrderedHeap()
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
            var heap = OrderedHeap()
            var model: [HeapSlot: Turn] = [:]
            for slot in 0..<30 as Range<HeapSlot> {
                let rank = Int64.random(in: 0..<1000, using: &generator)
                model[slot] = Turn(rank: rank, serial: UInt64(slot))
                heap.insert(slot, Turn(rank: rank, serial: UInt64(slot)))
            }
            heap.remove(victim)
            model[victim] = nil
            #expect(drained(&heap) == inOrder(model))
        }
    }
}

private func expectAgreement(
    _ heap: borrowing OrderedHeap,
    _ model: [HeapSlot: Turn],
    at slot: HeapSlot
) {
    let first = model.min { $0.value < $1.value }
    #expect(heap.count == model.count)
    #expect(heap.first?.slot == first?.key)
    #expect(heap.first?.turn == first?.value)
    #expect(heap.contains(slot) == (model[slot] != nil))
    var entries: [HeapSlot: Turn] = [:]
    heap.forEach { entries[$0.slot] = $0.turn }
    #expect(entries == model)
}

private func inOrder(_ model: [HeapSlot: Turn]) -> [HeapSlot] {
    model.sorted { $0.value < $1.value }.map(\.key)
}

private func drained(_ heap: inout OrderedHeap) -> [HeapSlot] {
    var slots: [HeapSlot] = []
    while let first = heap.first {
        slots.append(first.slot)
        heap.remove(first.slot)
    }
    return slots
}
