import TestSupport
import Testing

@testable import UVRunLoop

/// Tasks that sleep on a loop's clock.
@Suite(.timeLimit(.minutes(15))) struct SleepingTests {
    // MARK: Dates

    @Test(arguments: DriverKind.allCases)
    func sleepIsNeverEarly(kind: DriverKind) throws {
        try runTask(kind) { loop in
            for microseconds in [0, 1, 100, 333, 999, 1_000, 1_001, 2_500] {
                let start = loop.clock.now
                try await loop.sleep(for: .microseconds(microseconds))
                let end = loop.clock.now
                #expect(start.duration(to: end) >= .microseconds(microseconds))
            }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theClockCountsNanoseconds(kind: DriverKind) throws {
        try runTask(kind) { loop in
            #expect(loop.clock.minimumResolution == .nanoseconds(1))
            let date = loop.clock.now + loop.clock.minimumResolution
            try await loop.clock.sleep(until: date)
            #expect(loop.clock.now >= date)
        }
    }

    @Test func sleepEndsAtItsDateOnTheVirtualClock() throws {
        try runTask { loop in
            let start = loop.clock.now
            try await loop.sleep(for: .seconds(86_400))
            #expect(start.duration(to: loop.clock.now) == .seconds(86_400))
            try await loop.sleep(until: start + .seconds(86_401))
            #expect(start.duration(to: loop.clock.now) == .seconds(86_401))
            // The past suspends the task, too, but not the clock.
            try await loop.sleep(until: start)
            try await loop.sleep(for: .seconds(-1))
            #expect(start.duration(to: loop.clock.now) == .seconds(86_401))
        }
    }

    @Test func sleepersWakeInTheOrderOfTheirDates() throws {
        let log = EventLog()
        try runTask { loop in
            try await withThrowingTaskGroup { group in
                for seconds in [3, 1, 2] {
                    group.addTask {
                        try await loop.sleep(for: .seconds(seconds))
                        log.note("\(seconds)")
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(log.entries == ["1", "2", "3"])
    }

    @Test func sleepingTaskThatNeverSuspendsOtherwiseStarvesNothing() throws {
        try withLoop(.manual) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            try runTask(on: loop) {
                while log.count == 0 { try await loop.sleep(for: .zero) }
            }
            #expect(log.entries == ["timer"])
        }
    }

    @Test func sleepKeepsItsModesFromBeingEmpty() throws {
        withLoop(.manual) { loop, log in
            Task(executorPreference: loop.taskExecutor) {
                try await loop.sleep(for: .seconds(10))
                log.note("awake")
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["awake"])
        }
    }

    @Test func codeThatIsGenericOverClocksSleepsOnTheLoop() throws {
        try runTask { loop in
            let start = loop.clock.now
            try await sleepOneHour(on: loop.clock)
            let end = loop.clock.now
            #expect(start.duration(to: end) == .seconds(3_600))
            let elapsed = try await loop.clock.measure {
                try await Task.sleep(for: .seconds(60), clock: loop.clock)
            }
            #expect(elapsed == .seconds(60))
        }
    }

    // MARK: Where it resumes

    @Test func sleeperResumesOnItsActorAndWithoutAJobElsewhere() throws {
        try runTask { loop in
            let actor = Pinned(loop)
            try await actor.isolated { actor in
                try await loop.sleep(for: .seconds(1))
                actor.assertIsolated()
                #expect(loop.isOnOwnThread)
            }
        }
    }

    @Test func sleepOnAnotherThreadsLoopWorks() async throws {
        try await UVRunLoop.withThread { loop in
            let start = loop.clock.now
            try await loop.sleep(for: .milliseconds(2))
            #expect(start.duration(to: loop.clock.now) >= .milliseconds(2))
        }
    }

    // MARK: Cancellation

    @Test func cancelledTaskDoesNotBeginToSleep() throws {
        try runTask { loop in
            withUnsafeCurrentTask { $0?.cancel() }
            let start = loop.clock.now
            await #expect(throws: CancellationError.self) {
                try await loop.sleep(for: .seconds(10))
            }
            #expect(loop.clock.now == start)
        }
    }

    @Test func cancellationEndsASleepAtOnce() throws {
        try runTask { loop in
            let start = loop.clock.now
            let sleeper = Task(executorPreference: loop.taskExecutor) {
                try await loop.sleep(for: .seconds(10))
            }
            try await loop.sleep(for: .seconds(1))
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
            #expect(start.duration(to: loop.clock.now) == .seconds(1))
        }
    }

    @Test func cancellationAtTheDateIsEitherAndNothingIsLeft() throws {
        try withLoop(.manual) { loop, _ in
            try runTask(on: loop) {
                for _ in 0..<200 {
                    let sleeper = Task(executorPreference: loop.taskExecutor) {
                        try await loop.sleep(for: .seconds(1))
                    }
                    try await loop.sleep(for: .seconds(1))
                    sleeper.cancel()
                    do {
                        try await sleeper.value
                    } catch {
                        #expect(error is CancellationError)
                    }
                }
            }
            #expect(loop.isEmpty(.default))
        }
    }

    @Test func cancellationFromOtherThreadsRacesWithTheDate() async throws {
        try await UVRunLoop.withThread { loop in
            for _ in 0..<300 {
                let sleeper = Task { try await loop.sleep(for: .microseconds(200)) }
                try await loop.sleep(for: .microseconds(150))
                sleeper.cancel()
                _ = await sleeper.result
            }
        }
    }

    @Test func hundredThousandCancelledSleepsLeaveNothing() throws {
        try withLoop(.manual) { loop, _ in
            try runTask(on: loop) {
                for _ in 0..<(isUnderThreadSanitizer ? 5 : 100) {
                    let sleepers = (0..<1_000).map { _ in
                        Task(executorPreference: loop.taskExecutor) {
                            try await loop.sleep(for: .seconds(1_000))
                        }
                    }
                    await Task.yield()
                    for sleeper in sleepers { sleeper.cancel() }
                    for sleeper in sleepers { _ = await sleeper.result }
                }
            }
            #expect(loop.isEmpty(.default))
        }
    }

    // MARK: The end of the loop

    @Test func endOfTheLoopEndsASleep() async throws {
        let thread = try startLoopThread()
        let sleeper = Task { try await thread.runLoop.sleep(for: .seconds(1_000)) }
        try await yield(until: { !thread.runLoop.isEmpty(ofTimers: .default) })
        thread.stop()
        await #expect(throws: UVRunLoop.PerformError.threadEnded) { try await sleeper.value }
        await #expect(throws: UVRunLoop.PerformError.threadEnded) {
            try await thread.runLoop.sleep(for: .zero)
        }
        thread.joinInTask()
    }

    @Test func endsUnderFireLeaveNoSleeperBehind() async throws {
        for _ in 0..<50 {
            let thread = try startLoopThread()
            let sleepers = (0..<20).map { _ in
                Task { try await thread.runLoop.sleep(for: .seconds(1_000)) }
            }
            thread.stop()
            for sleeper in sleepers {
                await #expect(throws: UVRunLoop.PerformError.threadEnded) {
                    try await sleeper.value
                }
            }
            thread.joinInTask()
        }
    }

    /// The end of the loop calls the timers' handlers, which a cancellation releases.
    @Test func sleepersThatAreCancelledAtTheEndOfTheirLoopGetOneOutcome() async throws {
        for _ in 0..<50 {
            let thread = try startLoopThread()
            let sleepers = (0..<20).map { _ in
                Task { try await thread.runLoop.sleep(for: .seconds(1_000)) }
            }
            try await yield(until: { !thread.runLoop.isEmpty(ofTimers: .default) })
            thread.stop()
            for sleeper in sleepers { sleeper.cancel() }
            for sleeper in sleepers {
                let error = await #expect(throws: (any Error).self) { try await sleeper.value }
                let isOfTheEnd = error as? UVRunLoop.PerformError == .threadEnded
                #expect(isOfTheEnd || error is CancellationError)
            }
            thread.joinInTask()
        }
    }

    /// The cause of a cancellation often ends the loop, too.
    @Test func aCancelledTaskGetsTheCancellationThoughTheLoopEndedFirst() async {
        let wait = TaskWait<Void>()
        wait.settle(.failure(UVRunLoop.PerformError.threadEnded))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await UVRunLoop.outcome(of: wait, on: nil, isolation: nil) {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

private func sleepOneHour(on clock: some Clock<Duration>) async throws {
    try await clock.sleep(for: .seconds(3_600))
}

extension UVRunLoop {
    /// Whether no timer is in a mode.
    fileprivate func isEmpty(ofTimers mode: Mode) -> Bool {
        withEngine { engine in
            engine.modes.index(of: mode).map { engine.soonestQueued(in: $0) == nil } ?? true
        }
    }
}
