import Glibc
import Synchronization
import Testing

@testable import UVRunLoop

/// Many threads at one loop: nothing that they ask for is lost.
@Suite(.timeLimit(.minutes(15))) struct HammerTests {
    private static let threadCount = 8

    @Test func everyBlockFromEightThreadsRunsOnce() throws {
        try withCountedLoop { loop, _ in
            let blocksPerThread = 10_000
            let total = Self.threadCount * blocksPerThread
            let count = Counter()
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let threads = (0..<Self.threadCount).map { thread in
                startThread {
                    for number in 0..<blocksPerThread {
                        loop.perform {
                            if count.add() == total { loop.stop() }
                        }
                        // Now and then the loop has the time to fall asleep.
                        if number % 1000 == thread { usleep(100) }
                    }
                }
            }
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .stopped) }
            for thread in threads { thread.join() }
            #expect(count.value == total)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
        }
    }

    @Test func aTimerThatOtherThreadsKeepRedatingFiresOnAndEnds() throws {
        try withCountedLoop { loop, _ in
            let fires = Counter()
            let timer = UVRunLoop.Timer(
                after: .zero,
                interval: .microseconds(1),
                sendableHandler: { timer in
                    if fires.add() == 5_000 { timer.invalidate() }
                }
            )
            loop.add(timer, forMode: .default)
            let threads = (0..<2).map { _ in
                startThread {
                    while timer.isValid { timer.nextFireDate = .now }
                }
            }
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .finished) }
            for thread in threads { thread.join() }
            #expect(fires.value == 5_000)
        }
    }

    @Test func aTimerThatOtherThreadsTakeOutAndPutInKeepsToItsRules() throws {
        try withCountedLoop { loop, _ in
            let depth = Counter()
            let fires = Counter()
            let timer = UVRunLoop.Timer(
                after: .zero,
                interval: .microseconds(1),
                sendableHandler: { timer in
                    depth.add()
                    loop.run(mode: .default, for: .zero)
                    precondition(depth.drop() == 0, "The timer was fired within its own call.")
                    if fires.add() == 3_000 { timer.invalidate() }
                }
            )
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let thread = startThread {
                while timer.isValid {
                    loop.add(timer, forMode: .default)
                    sched_yield()
                    loop.remove(timer, forMode: .default)
                }
                loop.stop()
            }
            withHangGuard {
                while timer.isValid { loop.run(mode: .default, for: .milliseconds(5)) }
            }
            thread.join()
            #expect(fires.value == 3_000)
        }
    }

    @Test func everySignalWithAWakeUpIsSeenByAPerform() throws {
        try withCountedLoop { loop, _ in
            let rounds = 10_000
            let ends = Counter()
            let wanted = (0..<Self.threadCount).map { _ in Counter() }
            let sources = wanted.map { wanted in
                UVRunLoop.Source(sendablePerform: { source in
                    // The last signal of a thread comes after its last count.
                    if wanted.value == rounds, !source.isSignalled, wanted.claim() {
                        if ends.add() == Self.threadCount { loop.stop() }
                    }
                })
            }
            for source in sources { loop.add(source, forMode: .default) }
            let threads = zip(sources, wanted).map { source, wanted in
                startThread {
                    for _ in 0..<rounds {
                        wanted.add()
                        source.signal()
                        loop.wakeUp()
                    }
                }
            }
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .stopped) }
            for thread in threads { thread.join() }
            #expect(ends.value == Self.threadCount)
        }
    }

    // Each thread waits for its answer before it asks again, so that the loop falls asleep all the
    // time.
    @Test func everySignalWithAWakeUpIsAnsweredFromSleep() throws {
        try answerFromSleep { loop, answer in
            let source = UVRunLoop.Source(sendablePerform: { _ in answer() })
            loop.add(source, forMode: .default)
            return {
                source.signal()
                loop.wakeUp()
            }
        }
    }

    @Test func everyBlockIsAnsweredFromSleep() throws {
        try answerFromSleep { loop, answer in { loop.perform { answer() } } }
    }

    @Test func everyBlockForACommonModeIsAnsweredFromSleep() throws {
        try answerFromSleep { loop, answer in
            { loop.perform(inModes: [.common, UVRunLoop.Mode("hammer, other")]) { answer() } }
        }
    }

    @Test func everyTimerAddedByAnotherThreadIsAnsweredFromSleep() throws {
        try answerFromSleep { loop, answer in
            {
                let timer = UVRunLoop.Timer(
                    after: .microseconds(20),
                    sendableHandler: { _ in answer() }
                )
                loop.add(timer, forMode: .default)
            }
        }
    }

    @Test func everyReadyDescriptorAddedByAnotherThreadIsAnsweredFromSleep() throws {
        let pipe = Pipe()
        pipe.write("x")
        try answerFromSleep { loop, answer in
            {
                let source = try? UVRunLoop.DescriptorSource(
                    pipe.readEnd,
                    events: .readable,
                    sendableHandler: { source, _ in
                        source.invalidate()
                        answer()
                    }
                )
                if let source { loop.add(source, forMode: .default) }
            }
        }
    }

    @Test func everyStopFromAnotherThreadEndsARun() throws {
        try withCountedLoop { loop, _ in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let rounds = 2000
            let gate = Signal()
            let thread = startThread {
                for round in 0..<rounds {
                    gate.wait(times: round + 1)
                    if round % 3 == 0 { sched_yield() }
                    // A stop ahead of the run would be nothing; a block waits for it.
                    loop.perform { loop.stop() }
                }
            }
            withHangGuard {
                for _ in 0..<rounds {
                    gate.send()
                    #expect(loop.run(mode: .default, for: nil) == .stopped)
                }
            }
            thread.join()
        }
    }

    private func answerFromSleep(
        _ makeRequest: (UVRunLoop, @escaping @Sendable () -> Void) -> @Sendable () -> Void
    ) throws {
        try withCountedLoop { loop, _ in
            let rounds = 500
            let answers = Counter()
            let total = rounds * Self.threadCount
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let threads = (0..<Self.threadCount).map { _ in
                let gate = Signal()
                let request = makeRequest(loop) {
                    if answers.add() == total { loop.stop() }
                    gate.send()
                }
                return startThread {
                    for round in 1...rounds {
                        request()
                        gate.wait(times: round)
                    }
                }
            }
            withHangGuard { #expect(loop.run(mode: .default, for: nil) == .stopped) }
            for thread in threads { thread.join() }
            #expect(answers.value == total)
        }
    }
}
