import Testing

@testable import UVRunLoopPorts

/// The send queue, without a socket.
@Suite(.timeLimit(.minutes(15))) struct OutputQueueTests {
    @Test func bytesComeOutInTheOrderInWhichTheyWentIn() {
        var queue = OutputQueue()
        var expected: [UInt8] = []
        var sent: [UInt8] = []
        for size in [1, 20_000, 3, 16_384, 16_383, 1, 0, 70_000, 5] {
            let bytes = sampleBytes(size)
            queue.append(bytes[...])
            expected += bytes
            let first = Array(queue.first(16).joined().prefix(7_000))
            sent += first
            _ = queue.didSend(first.count)
            #expect(queue.count == expected.count - sent.count)
        }
        while !queue.isEmpty {
            let first = Array(queue.first(2).joined())
            sent += first
            _ = queue.didSend(first.count)
        }
        let isSame = sent == expected
        #expect(isSame)
    }

    @Test func smallPiecesAreSentTogether() {
        var queue = OutputQueue()
        for _ in 0..<1000 { queue.append([1, 2, 3][...]) }
        #expect(queue.first(16).map(\.count) == [3000])
        #expect(queue.only?.count == 3000)
    }

    @Test func aHigherLowMarkHoldsAtOnceAndIsToldWithTheNextBytes() {
        var queue = OutputQueue(highMark: 10, lowMark: 4)
        queue.append(sampleBytes(20)[...])
        var told = [queue.didSend(1)]
        #expect(queue.isAboveHighMark)
        queue.lowMark = 19
        #expect(!queue.isAboveHighMark)
        told += [queue.didSend(1), queue.didSend(1)]
        #expect(told == [false, true, false])
    }

    @Test func aLowMarkBelowZeroIsReachedByAnEmptyQueue() {
        var queue = OutputQueue(highMark: 10, lowMark: 4)
        queue.lowMark = -1
        queue.append(sampleBytes(20)[...])
        #expect([queue.didSend(19), queue.didSend(1)] == [false, true])
        #expect(!queue.isAboveHighMark)
    }

    @Test func aHighMarkThatIsLoweredBelowTheQueueHoldsAtOnce() {
        var queue = OutputQueue(highMark: 100, lowMark: 4)
        queue.append(sampleBytes(20)[...])
        #expect(!queue.isAboveHighMark)
        queue.highMark = 10
        #expect(queue.isAboveHighMark)
        #expect([queue.didSend(1), queue.didSend(15)] == [false, true])
    }

    @Test func aCapacityBelowZeroRefusesAllBytes() {
        var queue = OutputQueue()
        queue.append(sampleBytes(20)[...])
        queue.capacity = .min
        #expect(queue.overflows(with: 1))
    }

    @Test func theLowMarkIsToldOnceAfterTheHighOneWasPassed() {
        var queue = OutputQueue(highMark: 10, lowMark: 4)
        var told: [Bool] = []
        queue.append(sampleBytes(10)[...])
        #expect(!queue.isAboveHighMark)
        told.append(queue.didSend(10))
        queue.append(sampleBytes(11)[...])
        #expect(queue.isAboveHighMark)
        told.append(queue.didSend(6))
        #expect(queue.isAboveHighMark)
        told.append(queue.didSend(1))
        #expect(!queue.isAboveHighMark)
        told.append(queue.didSend(4))
        #expect(told == [false, false, true, false])
    }

    @Test func moreThanTheCapacityIsTooMuch() {
        var queue = OutputQueue(capacity: 10)
        queue.append(sampleBytes(4)[...])
        #expect(!queue.overflows(with: 6))
        #expect(queue.overflows(with: 7))
        #expect(queue.overflows(with: .max))
    }

    @Test func thousandsOfPiecesAreLetGoAsTheyAreSent() {
        var queue = OutputQueue()
        let piece = sampleBytes(16_384)
        for _ in 0..<500 { queue.append(piece[...]) }
        for _ in 0..<499 { _ = queue.didSend(piece.count) }
        #expect(queue.count == piece.count)
        let isLast = queue.only.map(Array.init) == piece
        #expect(isLast)
    }
}
