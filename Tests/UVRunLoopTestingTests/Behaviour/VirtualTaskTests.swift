import Testing
import UVRunLoop
import UVRunLoopTesting

/// Tasks and actors on a clock that jumps.
@Suite(.timeLimit(.minutes(15))) struct VirtualTaskTests {
    /// A task on the pool may have to wait for other tests.
    private let clock = UVRunLoop.VirtualClock(limit: nil)
    private let log: UVRunLoop.EventLog

    init() { log = UVRunLoop.EventLog(timedBy: clock) }

    @Test func aSleepEndsAtItsDate() async throws {
        let elapsed = try await UVRunLoop.withVirtualThread(clock: clock) { [clock] loop in
            try await loop.sleep(for: .seconds(86_400))
            try await loop.clock.sleep(until: loop.clock.now + .seconds(1), tolerance: .zero)
            return clock.elapsed
        }
        #expect(elapsed == .seconds(86_401))
    }

    @Test func theFunctionRunsOnTheThreadOfTheLoop() async throws {
        let isThere = try await UVRunLoop.withVirtualThread { loop in
            var isThere = loop.isIsolatingCurrentContext() == true
            try await loop.sleep(for: .seconds(1))
            isThere = isThere && loop.isIsolatingCurrentContext() == true
            return isThere
        }
        #expect(isThere)
    }

    @Test func theErrorOfTheFunctionIsThrown() async {
        struct Refusal: Error, Equatable {}
        await #expect(throws: Refusal()) {
            try await UVRunLoop.withVirtualThread { _ in throw Refusal() }
        }
    }

    @Test func ticksComeAtTheirDates() async throws {
        try await UVRunLoop.withVirtualThread(clock: clock) { [log] loop in
            for await dates in loop.ticks(every: .seconds(60)) {
                log.note("\(dates)")
                if log.count == 3 { break }
            }
        }
        #expect(log.difference(from: ["60 s: 1", "120 s: 1", "180 s: 1"]) == nil)
    }

    @Test func childTasksInterleaveByTheirDates() async throws {
        for _ in 0..<20 {
            let clock = UVRunLoop.VirtualClock()
            let log = UVRunLoop.EventLog(timedBy: clock)
            try await UVRunLoop.withVirtualThread(clock: clock) { loop in
                try await withThrowingTaskGroup { group in
                    for (name, seconds) in [("a", 3), ("b", 2)] {
                        group.addTask {
                            for _ in 0..<3 {
                                try await loop.sleep(for: .seconds(seconds))
                                log.note(name)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let times = ["2 s: b", "3 s: a", "4 s: b", "6 s: a", "6 s: b", "9 s: a"]
            #expect(log.difference(from: times) == nil)
        }
    }

    @Test func aCancelledSleepEndsAtOnce() async throws {
        try await UVRunLoop.withVirtualThread(clock: clock) { [log] loop in
            let sleeper = Task(executorPreference: loop.taskExecutor) {
                do {
                    try await loop.sleep(for: .seconds(60))
                } catch {
                    log.note("\(error is CancellationError)")
                }
            }
            try await loop.sleep(for: .seconds(5))
            sleeper.cancel()
            await sleeper.value
        }
        #expect(log.difference(from: ["5 s: true"]) == nil)
    }

    @Test func workOnThePoolIsAwaitedByAHold() async throws {
        try await UVRunLoop.withVirtualThread(clock: clock) { [clock, log] loop in
            let ticker = UVRunLoop.Timer(after: .seconds(1), interval: .seconds(1)) { _ in
                log.note("tick")
            }
            loop.add(ticker, forMode: .default)
            try await loop.sleep(for: .milliseconds(1_500))
            let sum = await clock.withHold { await Task.detached { (1...100).reduce(0, +) }.value }
            log.note("\(sum)")
            try await loop.sleep(for: .seconds(1))
            ticker.invalidate()
        }
        #expect(log.difference(from: ["1 s: tick", "1.5 s: 5050", "2 s: tick"]) == nil)
    }

    @Test func actorsOnTwoLoopsShareAClock() async throws {
        try await UVRunLoop.withVirtualThread(name: "one", clock: clock) { [clock, log] one in
            try await UVRunLoop.withVirtualThread(name: "two", clock: clock) { two in
                let (first, second) = (Sleeper(one, log, "one"), Sleeper(two, log, "two"))
                async let slow: Void = first.sleep(3)
                async let fast: Void = second.sleep(2)
                _ = try await (slow, fast)
            }
        }
        let expected = [
            "2 s: two", "3 s: one", "4 s: two", "6 s: one", "6 s: two", "9 s: one",
        ]
        #expect(log.entries.count == 6)
        #expect(Set(log.entries) == Set(expected))
        #expect(clock.elapsed == .seconds(9))
    }
}

/// Sleeps on its loop.
private actor Sleeper {
    private let loop: UVRunLoop
    private let log: UVRunLoop.EventLog
    private let name: String

    init(_ loop: UVRunLoop, _ log: UVRunLoop.EventLog, _ name: String) {
        self.loop = loop
        self.log = log
        self.name = name
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func sleep(_ seconds: Int) async throws {
        for _ in 0..<3 {
            try await loop.sleep(for: .seconds(seconds))
            log.note(name)
        }
    }
}
