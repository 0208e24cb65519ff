import Glibc
import Testing

@testable import UVRunLoop

/// Ticks as a sequence, and what all sequences have in common.
@Suite(.timeLimit(.minutes(15))) struct SequenceTests {
    // MARK: Ticks

    @Test func ticksComeAtTheirDatesAndDoNotDrift() throws {
        try runTask { loop in
            let start = loop.clock.now
            var dates: [Duration] = []
            for await count in loop.ticks(every: .seconds(10)) {
                #expect(count == 1)
                dates.append(start.duration(to: loop.clock.now))
                try await loop.sleep(for: .seconds(3))
                if dates.count == 4 { break }
            }
            #expect(dates == [.seconds(10), .seconds(20), .seconds(30), .seconds(40)])
        }
    }

    @Test func tickTellsHowManyDatesItStandsFor() throws {
        try runTask { loop in
            let start = loop.clock.now
            var ticks = loop.ticks(every: .seconds(1)).makeAsyncIterator()
            #expect(await ticks.next() == 1)
            try await loop.sleep(for: .milliseconds(5_500))
            // Those of the seconds 2 to 6.
            #expect(await ticks.next() == 5)
            #expect(await ticks.next() == 1)
            #expect(start.duration(to: loop.clock.now) == .seconds(7))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func datesAndTicksAreAsManyAfterAllKindsOfDelays(kind: DriverKind) throws {
        try runTask(kind) { loop in
            let start = loop.clock.now
            var count = 0
            var iterator = loop.ticks(every: .microseconds(500)).makeAsyncIterator()
            for delay in [0, 100, 700, 3_000, 0, 10, 2_500, 0] {
                count += await iterator.next() ?? 0
                if delay > 0 { try await loop.sleep(for: .microseconds(delay)) }
            }
            count += await iterator.next() ?? 0
            let passed = start.duration(to: loop.clock.now) / .microseconds(500)
            #expect(count <= Int(passed))
            #expect(count >= 8)
        }
    }

    @Test func ticksThatNobodyWaitsForWakeTheLoopOnce() throws {
        try withLoop(.manual) { loop, log in
            let ticks = loop.ticks(every: .seconds(1))
            // The first date takes the timer out of the mode.
            #expect(loop.run(mode: .default, for: nil) == .finished)
            try runTask(on: loop) {
                var iterator = ticks.makeAsyncIterator()
                #expect(await iterator.next() == 1)
                #expect(await iterator.next() == 1)
            }
            ticks.invalidate()
        }
    }

    // MARK: Cancellation and ends

    @Test func cancellationEndsAWaitAndTheSequenceGoesOn() throws {
        try runTask { loop in
            let pipe = Pipe()
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            let ticks = loop.ticks(every: .seconds(1_000))
            let waits = [
                Task(executorPreference: loop.taskExecutor) {
                    var iterator = readiness.makeAsyncIterator()
                    return await iterator.next() == nil
                },
                Task(executorPreference: loop.taskExecutor) {
                    var iterator = ticks.makeAsyncIterator()
                    return await iterator.next() == nil
                },
            ]
            try await loop.sleep(for: .seconds(1))
            for wait in waits { wait.cancel() }
            for wait in waits { #expect(await wait.value) }
            pipe.write("x")
            var iterator = readiness.makeAsyncIterator()
            #expect(await iterator.next() == .readable)
        }
    }

    @Test func cancelledTaskGetsNothing() throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1))
            withUnsafeCurrentTask { unsafe $0?.cancel() }
            var iterator = ticks.makeAsyncIterator()
            #expect(await iterator.next() == nil)
        }
    }

    @Test func invalidationEndsAWait() throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1_000))
            let signals = try loop.signals(SIGRTMIN_ + 8)
            let wait = Task(executorPreference: loop.taskExecutor) {
                var iterator = ticks.makeAsyncIterator()
                return await iterator.next() == nil
            }
            let other = Task(executorPreference: loop.taskExecutor) {
                var iterator = signals.makeAsyncIterator()
                return await iterator.next() == nil
            }
            try await loop.sleep(for: .seconds(1))
            ticks.invalidate()
            signals.invalidate()
            #expect(await wait.value)
            #expect(await other.value)
            // Twice, and by the end of its life a third time.
            ticks.invalidate()
        }
    }

    @Test func sequencesThatNobodyAttendedEndWithTheLoop() async throws {
        let thread = try startLoopThread()
        let loop = thread.runLoop
        let pipe = Pipe()
        pipe.write("x")
        let ticks = loop.ticks(every: .milliseconds(1))
        let readiness = try loop.readiness(of: pipe.readEnd, .readable)
        let isAttending = {
            loop.nextFireDate(forMode: .default) != nil
                || !loop.withEngine { $0.ports(in: .default).isEmpty }
        }
        while isAttending() { usleep(1_000) }
        thread.stop()
        thread.joinInTask()
        var counts = ticks.makeAsyncIterator()
        #expect(await counts.next() ?? 0 >= 1)
        #expect(await counts.next() == nil)
        var events = readiness.makeAsyncIterator()
        #expect(await events.next() == .readable)
        #expect(await events.next() == nil)
    }

    @Test func endOfTheLoopEndsEverySequence() async throws {
        let thread = try startLoopThread()
        let (loop, pipe) = (thread.runLoop, Pipe())
        let ticks = loop.ticks(every: .seconds(1_000))
        let signals = try loop.signals(SIGRTMIN_ + 9)
        let readiness = try loop.readiness(of: pipe.readEnd, .readable)
        let port = UVRunLoop.Port()
        loop.add(port, forMode: .default)
        async let noTick = first(of: ticks) == nil
        async let noSignal = first(of: signals) == nil
        async let noEvents = first(of: readiness) == nil
        async let noMessage = first(of: port.messages) == nil
        try await loop.sleep(for: .milliseconds(5))
        thread.stop()
        let ended = await [noTick, noSignal, noEvents, noMessage]
        #expect(ended == [true, true, true, true])
        thread.joinInTask()
        // Those that come too late end at once.
        #expect(await first(of: loop.ticks(every: .seconds(1))) == nil)
        #expect(await first(of: try loop.readiness(of: pipe.readEnd, .readable)) == nil)
        #expect(await first(of: try loop.signals(SIGRTMIN_ + 9)) == nil)
    }

    @Test func secondConsumerTraps() async {
        await #expect(processExitsWith: .failure) {
            try runTask { loop in
                let ticks = loop.ticks(every: .seconds(1_000))
                for _ in 0..<2 {
                    Task(executorPreference: loop.taskExecutor) { await first(of: ticks) }
                }
                try await loop.sleep(for: .seconds(1))
            }
        }
    }

    @Test func hundredThousandCancelledWaitsLeaveNothing() throws {
        try withLoop(.manual) { loop, _ in
            try runTask(on: loop) {
                let pipe = Pipe()
                for _ in 0..<(isUnderThreadSanitizer ? 5 : 100) {
                    let waits = (0..<1_000).map { number in
                        Task(executorPreference: loop.taskExecutor) {
                            if number.isMultiple(of: 100) {
                                return await first(
                                    of: try loop.readiness(of: pipe.readEnd, .readable)
                                ) == nil
                            }
                            return await first(of: loop.ticks(every: .seconds(1_000))) == nil
                        }
                    }
                    await Task.yield()
                    for wait in waits { wait.cancel() }
                    for wait in waits {
                        let isOver = try await wait.value
                        #expect(isOver)
                    }
                }
            }
            #expect(loop.isEmpty(.default))
        }
    }

    @Test func waitsOfOtherThreadsRaceWithEventsAndCancellation() async throws {
        try await UVRunLoop.withThread { loop in
            let pipe = Pipe()
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            for number in 0..<500 {
                let wait = Task { await first(of: readiness) }
                pipe.write("x")
                if number.isMultiple(of: 2) { wait.cancel() }
                _ = await wait.value
                _ = pipe.read()
            }
            pipe.write("last")
            #expect(await first(of: readiness) == .readable)
        }
    }
}
