import Testing
import UVRunLoopTesting

@testable import UVRunLoop

/// Ticks that pass while nobody waits for them.
@Suite(.timeLimit(.minutes(15))) struct UnattendedTickTests {
    @Test func datesThatPassWhileTheConsumerIsAwayAreOneElement() throws {
        try runTask { loop in
            let start = loop.clock.now
            var ticks = loop.ticks(every: .seconds(1)).makeAsyncIterator()
            var (sum, counts) = (0, [Int]())
            // The consumer returns at a date, between two dates, and before the next one.
            for milliseconds in [0, 5_500, 0, 4_000, 200, 0, 900, 1_000, 100_000, 2_700, 0] {
                try await loop.sleep(for: .milliseconds(milliseconds))
                let count = await ticks.next() ?? 0
                counts.append(count)
                sum += count
                #expect(sum == Int(start.duration(to: loop.clock.now) / .seconds(1)))
            }
            #expect(counts == [1, 5, 1, 4, 1, 1, 1, 1, 100, 2, 1])
        }
    }

    @Test func anElementThatIsKeptIsTakenWithoutAWait() throws {
        try runTask { loop in
            var ticks = loop.ticks(every: .seconds(1)).makeAsyncIterator()
            try await loop.sleep(for: .milliseconds(5_500))
            let before = loop.clock.now
            #expect(await ticks.next() == 5)
            #expect(loop.clock.now == before)
            // The series goes on at its dates.
            #expect(await ticks.next() == 1)
            #expect(before.duration(to: loop.clock.now) == .milliseconds(500))
        }
    }

    @Test func datesThatPassWhileTheLoopIsBlockedJoinTheElementThatIsKept() throws {
        try runTask { loop in
            let clock = try #require(virtualClock(of: loop))
            var ticks = loop.ticks(every: .seconds(1)).makeAsyncIterator()
            clock.advance(by: .milliseconds(3_500))
            #expect(await ticks.next() == 3)
            // One is kept, and the loop is blocked for three more.
            try await loop.sleep(for: .seconds(1))
            clock.advance(by: .seconds(3))
            #expect(await ticks.next() == 4)
            #expect(await ticks.next() == 1)
            #expect(clock.elapsed == .seconds(8))
        }
    }

    @Test func aLateElementAndTheDatesSinceAreOneElement() throws {
        try runTask { loop in
            let clock = try #require(virtualClock(of: loop))
            var ticks = loop.ticks(every: .seconds(1)).makeAsyncIterator()
            // The element that is kept stands for three dates; two more follow.
            clock.advance(by: .milliseconds(3_500))
            try await loop.sleep(for: .seconds(2))
            #expect(await ticks.next() == 5)
            #expect(await ticks.next() == 1)
        }
    }

    /// Whether an element is kept, or the latest one was taken before they passed.
    @Test(arguments: [false, true])
    func invalidationLeavesTheDatesThatHavePassed(takesFirst: Bool) throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1))
            if takesFirst {
                try await loop.sleep(for: .milliseconds(1_200))
                #expect(await first(of: ticks) == 1)
            }
            try await loop.sleep(for: .milliseconds(4_300))
            ticks.invalidate()
            ticks.invalidate()
            try await loop.sleep(for: .seconds(10))
            #expect(await first(of: ticks) == 4)
            #expect(await first(of: ticks) == nil)
        }
    }

    @Test func aWaitThatIsCancelledLosesNoDates() throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1))
            for (milliseconds, count) in [(5_200, 5), (1_000, 1), (300, 1), (7_000, 7)] {
                let wait = Task(executorPreference: loop.taskExecutor) { await first(of: ticks) }
                try await loop.sleep(for: .milliseconds(100))
                wait.cancel()
                #expect(await wait.value == nil)
                try await loop.sleep(for: .milliseconds(milliseconds))
                #expect(await first(of: ticks) == count)
            }
        }
    }

    @Test func aCancelledTaskLeavesWhatIsKept() throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1))
            try await loop.sleep(for: .milliseconds(2_500))
            let taken = Task(executorPreference: loop.taskExecutor) {
                withUnsafeCurrentTask { unsafe $0?.cancel() }
                return [await first(of: ticks), await first(of: ticks)]
            }
            #expect(await taken.value == [nil, nil])
            #expect(await first(of: ticks) == 2)
            #expect(virtualClock(of: loop)?.elapsed == .milliseconds(2_500))
            #expect(await first(of: ticks) == 1)
            #expect(virtualClock(of: loop)?.elapsed == .seconds(3))
        }
    }

    @Test func datesAfterTheEndOfASequenceDoNotCount() throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1))
            try await loop.sleep(for: .milliseconds(1_500))
            ticks.invalidate()
            try await loop.sleep(for: .seconds(5))
            var iterator = ticks.makeAsyncIterator()
            #expect(await iterator.next() == 1)
            #expect(await iterator.next() == nil)
        }
    }

    @Test func datesAfterTheEndOfTheLoopDoNotCount() throws {
        let clock = UVRunLoop.VirtualClock()
        let ticks = UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let ticks = loop.ticks(every: .seconds(1))
            loop.runUntilIdle()
            return ticks
        }
        clock.advance(by: .seconds(5))
        try runTask { _ in
            var iterator = ticks.makeAsyncIterator()
            #expect(await iterator.next() == 1)
            #expect(await iterator.next() == nil)
        }
    }

    @Test func everyElementStandsForAllDatesUntilItIsTakenInRealTime() throws {
        let interval = Duration.milliseconds(2)
        try runTask(.uv) { loop in
            let earliest = loop.clock.now
            var ticks = loop.ticks(every: interval).makeAsyncIterator()
            let latest = loop.clock.now
            var sum = 0
            for milliseconds in [0, 11, 3, 0, 1, 25, 5, 0, 2, 9] {
                // The loop runs meanwhile, or is blocked.
                try await loop.sleep(for: .milliseconds(milliseconds))
                if milliseconds.isMultiple(of: 5) { letTimePass(.milliseconds(milliseconds)) }
                let called = loop.clock.now
                sum += await ticks.next() ?? 0
                #expect(sum >= Int(latest.duration(to: called) / interval))
                #expect(sum <= Int(earliest.duration(to: loop.clock.now) / interval))
            }
        }
    }

    @Test func noDateCountsTwiceForAConsumerOnAnotherThread() async throws {
        let interval = Duration.microseconds(200)
        try await UVRunLoop.withThread { loop in
            let busy = Task {
                let earliest = UVRunLoop.Instant.now
                let ticks = loop.ticks(every: interval)
                var (sum, numbers) = (0, SeededGenerator(seed: 7))
                for _ in 0..<500 {
                    sum += await first(of: ticks) ?? 0
                    #expect(sum <= Int(earliest.duration(to: .now) / interval))
                    letTimePass(.microseconds(Int.random(in: 0..<600, using: &numbers)))
                }
                return sum
            }
            #expect(await busy.value >= 500)
        }
    }
}
