import Testing
import UVRunLoop

/// The features of the language and its library for tasks, unchanged, on the thread of a loop.
@Suite(.timeLimit(.minutes(15))) struct TaskTests {
    @Test(arguments: Place.allCases)
    func sleepResumesOnTheLoop(place: Place) async throws {
        try await place.run { _, loop in
            let began = ContinuousClock.now
            try await Task.sleep(for: .milliseconds(5))
            #expect(ContinuousClock.now - began >= .milliseconds(5))
            expectOn(loop)
            let end = loop.clock.now + .milliseconds(5)
            try await Task.sleep(until: end, clock: loop.clock)
            #expect(loop.clock.now >= end)
            expectOn(loop)
        }
    }

    @Test(arguments: Place.allCases)
    func cancelledSleepResumesOnTheLoop(place: Place) async throws {
        let task = Task {
            try await place.run { _, loop in
                await #expect(throws: CancellationError.self) {
                    try await Task.sleep(for: .seconds(3_600))
                }
                expectOn(loop)
            }
        }
        task.cancel()
        try await task.value
    }

    @Test(arguments: Place.allCases)
    func taskGroupReturnsToTheLoop(place: Place) async throws {
        try await place.run { isolation, loop in
            let sum = await withTaskGroup(of: Int.self) { group in
                for number in 1...100 {
                    group.addTask {
                        await Task.yield()
                        // Child tasks take over the preference, but not the actor.
                        return isOn(loop) == (place == .preferringTask) ? number : 0
                    }
                }
                var sum = 0
                while let number = await group.next(isolation: isolation) {
                    sum += isOn(loop) ? number : 0
                }
                return sum
            }
            #expect(sum == 5_050)
            expectOn(loop)
        }
    }

    @Test(arguments: Place.allCases)
    func streamIsConsumedOnTheLoop(place: Place) async throws {
        try await place.run { isolation, loop in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let producer = Task.detached {
                for number in 1...100 {
                    continuation.yield(number)
                    await Task.yield()
                }
                continuation.finish()
            }
            var received: [Int] = []
            for await number in stream where isOn(loop) { received.append(number) }
            await producer.value
            #expect(received == Array(1...100))
            _ = isolation
        }
    }

    @Test(arguments: Place.allCases)
    func mainActorIsCalledFromTheLoop(place: Place) async throws {
        try await place.run { _, loop in
            let isOnLoop = await MainActor.run { isOn(loop) }
            #expect(!isOnLoop)
            expectOn(loop)
        }
    }

    @Test(arguments: Place.allCases)
    func taskLocalValuesReachTheLoop(place: Place) async throws {
        try await place.run { isolation, loop in
            try await Local.$word.withValue("word") {
                // The closure is on the actor because it uses it.
                _ = isolation
                try await Task.sleep(for: .nanoseconds(1))
                #expect(Local.word == "word")
                expectOn(loop)
            }
        }
    }

    @Test(arguments: Place.allCases)
    func childTasksAreAwaitedOnTheLoop(place: Place) async throws {
        try await place.run { _, loop in
            async let one = 1
            async let two: Int = {
                try await Task.sleep(for: .nanoseconds(1))
                return 2
            }()
            let sum = try await one + two
            #expect(sum == 3)
            expectOn(loop)
        }
    }
}

private enum Local {
    @TaskLocal static var word = ""
}
