import AsyncAlgorithms
import Testing
import UVRunLoop

/// Operators of swift-async-algorithms on the thread of a loop, and with the loop's clock.
@Suite(.timeLimit(.minutes(15))) struct AlgorithmTests {
    @Test(arguments: Place.allCases)
    func mergedSequences(place: Place) async throws {
        try await place.run { isolation, loop in
            var iterator = merge(numbers(1...50), numbers(51...100)).makeAsyncIterator()
            var received: [Int] = []
            while let number = await iterator.next(isolation: isolation), isOn(loop) {
                received.append(number)
            }
            #expect(received.sorted() == Array(1...100))
            #expect(received.filter { $0 <= 50 } == Array(1...50))
        }
    }

    @Test(arguments: Place.allCases)
    func mergedTicksAndMessages(place: Place) async throws {
        try await place.run { isolation, loop in
            let port = UVRunLoop.Port()
            loop.add(port, forMode: .common)
            for _ in 0..<3 { _ = port.send(UVRunLoop.PortMessage(components: [])) }
            let events = merge(
                loop.ticks(every: .milliseconds(1)).map { _ in "tick" },
                port.messages.map { _ in "message" }
            )
            var counts = ["tick": 0, "message": 0]
            for await event in events {
                counts[event, default: 0] += isOn(loop) ? 1 : 0
                if counts["tick", default: 0] >= 3, counts["message"] == 3 { break }
            }
            #expect(counts["message"] == 3)
            _ = isolation
        }
    }

    @Test(arguments: Place.allCases)
    func zippedSequences(place: Place) async throws {
        try await place.run { isolation, loop in
            var received: [Int] = []
            for await (left, right) in zip(numbers(1...10), numbers(1...20)) where isOn(loop) {
                received.append(left * right)
            }
            #expect(received == (1...10).map { $0 * $0 })
            _ = isolation
        }
    }

    @Test(arguments: Place.allCases)
    func channel(place: Place) async throws {
        try await place.run { isolation, loop in
            let channel = AsyncChannel<Int>()
            let producer = Task.detached {
                for number in 1...100 { await channel.send(number) }
                channel.finish()
            }
            var received: [Int] = []
            for await number in channel where isOn(loop) { received.append(number) }
            #expect(received == Array(1...100))
            await producer.value
            _ = isolation
        }
    }

    @Test(arguments: Place.allCases)
    func channelWhoseProducerIsOnTheLoop(place: Place) async throws {
        let channel = AsyncChannel<Int>()
        let consumer = Task {
            var received: [Int] = []
            for await number in channel { received.append(number) }
            return received
        }
        try await place.run { _, loop in
            for number in 1...100 {
                await channel.send(number)
                guard isOn(loop) else { break }
            }
            channel.finish()
        }
        #expect(await consumer.value == Array(1...100))
    }

    @Test(arguments: Place.allCases)
    func debouncedSequence(place: Place) async throws {
        try await place.run { isolation, loop in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            var iterator = stream.debounce(for: .milliseconds(20), clock: loop.clock)
                .makeAsyncIterator()
            let began = loop.clock.now
            for number in 1...3 { continuation.yield(number) }
            // A busy machine may separate the numbers.
            var latest: Int?
            repeat {
                latest = await iterator.next(isolation: isolation)
                expectOn(loop)
            } while latest != 3 && latest != nil
            #expect(latest == 3)
            #expect(loop.clock.now - began >= .milliseconds(20))
            continuation.finish()
            #expect(await iterator.next(isolation: isolation) == nil)
        }
    }

    @Test(arguments: Place.allCases)
    func throttledTicks(place: Place) async throws {
        try await place.run { isolation, loop in
            let began = loop.clock.now
            let ticks = loop.ticks(every: .milliseconds(1))
            var iterator = ticks._throttle(for: .milliseconds(10), clock: loop.clock)
                .makeAsyncIterator()
            for _ in 0..<3 {
                #expect(await iterator.next(isolation: isolation) != nil)
                expectOn(loop)
            }
            #expect(loop.clock.now - began >= .milliseconds(20))
        }
    }

    @Test(arguments: Place.allCases)
    func chunksByTheLoopsClock(place: Place) async throws {
        try await place.run { isolation, loop in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let timer = AsyncTimerSequence.repeating(every: .milliseconds(5), clock: loop.clock)
            var iterator = stream.chunked(by: timer).makeAsyncIterator()
            let began = loop.clock.now
            for number in 1...3 { continuation.yield(number) }
            // Nothing but the timer ends a chunk.
            var received: [Int] = []
            while received.count < 3, let chunk = await iterator.next(isolation: isolation) {
                received += chunk
                expectOn(loop)
            }
            #expect(received == [1, 2, 3])
            #expect(loop.clock.now - began >= .milliseconds(5))
            continuation.yield(4)
            continuation.finish()
            #expect(await iterator.next(isolation: isolation) == [4])
            #expect(await iterator.next(isolation: isolation) == nil)
        }
    }

    @Test(arguments: Place.allCases)
    func timerSequenceOfTheLoopsClock(place: Place) async throws {
        try await place.run { isolation, loop in
            var latest = loop.clock.now
            let timer = AsyncTimerSequence(interval: .milliseconds(2), clock: loop.clock)
            for await date in timer.prefix(3) {
                #expect(date > latest)
                expectOn(loop)
                latest = date
            }
            _ = isolation
        }
    }
}
