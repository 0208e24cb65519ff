import Testing

@testable import UVRunLoop

/// The explorer's memory allows what C11 allows, and nothing else.
@Suite(.timeLimit(.minutes(15))) struct MemoryTests {
    private let data = 0
    private let flag = 1

    @Test func whoAcquiresAReleasedStoreReadsWhatCameBeforeIt() {
        var memory = makeMemory()
        memory.write(0, data, 7, .relaxed, chained: false)
        memory.write(0, flag, 1, .release, chained: false)
        #expect(memory.readable(1, data, .acquireRelease) == 0..<2)
        _ = memory.read(1, flag, 1, .acquireRelease)
        #expect(memory.readable(1, data, .relaxed) == 1..<2)
    }

    @Test(arguments: [Step.Order.relaxed, .release])
    func aStoreBecomesVisibleLateWithoutReleaseOrAcquire(store: Step.Order) {
        var memory = makeMemory()
        memory.write(0, data, 7, .relaxed, chained: false)
        memory.write(0, flag, 1, store, chained: false)
        _ = memory.read(1, flag, 1, store == .relaxed ? .acquireRelease : .relaxed)
        #expect(memory.readable(1, data, .acquireRelease) == 0..<2)
    }

    @Test func twoThreadsMissEachOthersStoresUnlessAllIsSequential() {
        for order in [Step.Order.acquireRelease, .sequential] {
            var memory = makeMemory()
            memory.write(0, data, 1, order, chained: false)
            memory.write(1, flag, 1, order, chained: false)
            let mayMiss = order != .sequential
            #expect(memory.readable(0, flag, order).contains(0) == mayMiss)
            #expect(memory.readable(1, data, order).contains(0) == mayMiss)
        }
    }

    @Test func nobodyReadsAnOlderStoreAfterANewerOne() {
        var memory = makeMemory()
        memory.write(0, data, 1, .relaxed, chained: false)
        memory.write(0, data, 2, .relaxed, chained: false)
        _ = memory.read(1, data, 1, .relaxed)
        #expect(memory.readable(1, data, .relaxed) == 1..<3)
        #expect(memory.readable(0, data, .relaxed) == 2..<3)
    }

    @Test func aReadModifyWritePassesOnWhatTheStoreBeforeItReleased() {
        var memory = makeMemory()
        memory.write(0, data, 7, .relaxed, chained: false)
        memory.write(0, flag, 1, .release, chained: false)
        _ = memory.read(1, flag, 1, .relaxed)
        memory.write(1, flag, 2, .relaxed, chained: true)
        _ = memory.read(2, flag, 2, .acquireRelease)
        #expect(memory.readable(2, data, .relaxed) == 1..<2)
    }

    @Test func aLockPassesOnWhatItsOwnersHaveSeen() {
        var memory = makeMemory()
        _ = memory.take(0, 0)
        memory.write(0, data, 7, .relaxed, chained: false)
        memory.release(0, 0, 0)
        _ = memory.take(0, 1)
        #expect(memory.readable(1, data, .relaxed) == 1..<2)
        #expect(memory.readable(2, data, .relaxed) == 0..<2)
    }

    @Test func messagesAreForgottenOnceNobodyCanReadThem() {
        var memory = makeMemory()
        memory.write(0, data, 1, .relaxed, chained: false)
        memory.write(0, data, 2, .relaxed, chained: false)
        let loaders = Memory.Loaders(
            any: [3, 3, 3, 3, 3],
            sequential: [0, 0, 0, 0, 0]
        )
        memory.normalize(loaders, running: 3)
        #expect(memory.readable(1, data, .relaxed) == 0..<3)
        _ = memory.read(1, data, 1, .relaxed)
        memory.normalize(loaders, running: 3)
        #expect(memory.readable(1, data, .relaxed) == 0..<2)
        #expect(memory.latest(data) == 2)
    }

    private func makeMemory() -> Memory {
        Memory(words: [0, 0, 0, 0, 0], locks: [0, 0, 0], spuriousWakes: 0)
    }
}
