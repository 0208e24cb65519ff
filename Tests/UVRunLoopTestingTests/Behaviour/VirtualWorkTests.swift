import Testing
import UVRunLoop
import UVRunLoopTesting

/// Blocks, sources, ports and performs on a clock that jumps, and what other threads do at a date.
@Suite(.timeLimit(.minutes(15))) struct VirtualWorkTests {
    private let clock = UVRunLoop.VirtualClock()
    private let log: UVRunLoop.EventLog

    init() { log = UVRunLoop.EventLog(timedBy: clock) }

    private func withLoop(_ body: (UVRunLoop) -> Void) {
        UVRunLoop.withVirtualLoop(clock: clock, body)
    }

    @Test func blocksArePerformedBeforeTheClockJumps() {
        withLoop { loop in
            let timer = UVRunLoop.Timer(after: .seconds(1)) { [log] _ in
                log.note("timer")
                loop.performLocally { log.note("block of the timer") }
            }
            loop.add(timer, forMode: .default)
            loop.performLocally { [log] in
                log.note("block")
                loop.performLocally { log.note("block of the block") }
            }
            loop.run()
        }
        let expected = [
            "0 s: block", "0 s: block of the block", "1 s: timer", "1 s: block of the timer",
        ]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func aSignalledSourceIsPerformedBeforeTheClockJumps() {
        withLoop { loop in
            let source = UVRunLoop.Source { [log] source in
                log.note("source")
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            let timers = [1, 2].map { seconds in
                UVRunLoop.Timer(after: .seconds(seconds)) { [log] _ in
                    log.note("timer")
                    source.signal()
                }
            }
            for timer in timers { loop.add(timer, forMode: .default) }
            loop.run()
        }
        #expect(log.difference(from: ["1 s: timer", "1 s: source", "2 s: timer"]) == nil)
    }

    @Test func delayedPerformsComeAtTheirDates() {
        withLoop { loop in
            for seconds in [3_600, 60, 60] {
                loop.requestPerform(after: .seconds(seconds)) { [log] in log.note("perform") }
            }
            loop.run()
        }
        let expected = ["60 s: perform", "60 s: perform", "3600 s: perform"]
        #expect(log.difference(from: expected) == nil)
    }

    // MARK: Plans

    @Test func plansAreCarriedOutInTheOrderOfTheirDatesAndBeforeTimers() {
        withLoop { loop in
            let timer = UVRunLoop.Timer(after: .seconds(2)) { [log] _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            let start = clock.now
            clock.after(.seconds(3)) { [log] in log.note("last") }
            clock.after(.seconds(2)) { [log] in log.note("plan") }
            clock.at(start + .seconds(2)) { [log] in log.note("second plan") }
            clock.at(start - .seconds(2)) { [log] in log.note("past") }
            loop.runUntilIdle()
        }
        let expected = ["0 s: past", "2 s: plan", "2 s: second plan", "2 s: timer", "3 s: last"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func aPlanForADateThatDoesNotFitIsNeverCarriedOut() {
        withLoop { loop in
            for delay in [.seconds(Int64.max), Duration(attoseconds: .max)] {
                clock.after(delay) { [log] in log.note("plan") }
            }
            clock.after(Duration(attoseconds: .min)) { [log] in log.note("past") }
            loop.add(UVRunLoop.Timer(after: .seconds(1)) { _ in }, forMode: .default)
            loop.runUntilIdle()
        }
        #expect(log.difference(from: ["0 s: past"]) == nil)
    }

    @Test func aPlanIsCarriedOutOnAnotherThreadWhileTheLoopSleeps() {
        withLoop { loop in
            clock.after(.seconds(1)) { [log] in
                log.note("asleep: \(loop.isWaiting)")
                for number in 1...3 { loop.perform { log.note("block \(number)") } }
                loop.perform { loop.stop() }
                log.note("planned")
            }
            log.observe(loop, [.afterWaiting])
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            loop.run()
        }
        let expected = [
            "1 s: asleep: true", "1 s: planned", "1 s: afterWaiting", "1 s: block 1",
            "1 s: block 2", "1 s: block 3",
        ]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func aPlanMayPlan() {
        withLoop { loop in
            clock.after(.seconds(1)) { [clock, log] in
                log.note("one")
                clock.after(.seconds(1)) { log.note("two") }
            }
            loop.runUntilIdle()
        }
        #expect(log.difference(from: ["1 s: one", "2 s: two"]) == nil)
    }

    @Test func noPlanIsCarriedOutWhileNoLoopRuns() {
        withLoop { loop in
            clock.after(.seconds(1)) { [log] in log.note("plan") }
            clock.advance(by: .seconds(5))
            #expect(log.count == 0)
            loop.runUntilIdle()
        }
        // Late, but not for a date that has gone by.
        #expect(log.difference(from: ["5 s: plan"]) == nil)
    }
}
