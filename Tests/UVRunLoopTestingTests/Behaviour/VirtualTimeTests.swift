import Testing
import UVRunLoop
import UVRunLoopTesting

/// Timers on a clock that jumps.
@Suite(.timeLimit(.minutes(15))) struct VirtualTimeTests {
    private static let inner = UVRunLoop.Mode("inner")

    // MARK: Dates

    @Test func aDayOfARepeatingTimer() {
        UVRunLoop.withVirtualLoop { loop in
            let start = loop.now
            var (fires, wrongDates) = (0, 0)
            let timer = UVRunLoop.Timer(after: .seconds(60), interval: .seconds(60)) { _ in
                fires += 1
                if start.duration(to: loop.now) != .seconds(60 * fires) { wrongDates += 1 }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(for: .seconds(86_400)) == .timedOut)
            #expect(fires == 1_440)
            #expect(wrongDates == 0)
            #expect(start.duration(to: loop.now) == .seconds(86_400))
        }
    }

    @Test func datesBeginAtTheSameInstantWithEveryClock() {
        let first = UVRunLoop.withVirtualLoop { $0.now }
        let second = UVRunLoop.withVirtualLoop { $0.now }
        #expect(first == second)
        #expect(UVRunLoop.VirtualClock().now == first)
        #expect(UVRunLoop.VirtualClock().elapsed == .zero)
    }

    @Test func theClockOfTheLoopIsTheClockOfTheThread() {
        let clock = UVRunLoop.VirtualClock()
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            #expect(UVRunLoop.current === loop)
            clock.advance(by: .seconds(3))
            #expect(loop.now == clock.now)
            #expect(loop.clock.now == clock.now)
            #expect(clock.elapsed == .seconds(3))
        }
    }

    @Test func timersOfTheSameDateFireInTheOrderOfScheduling() {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            for (name, delay) in [("a", 2), ("b", 1), ("c", 2), ("d", 1)] {
                let timer = UVRunLoop.Timer(after: .seconds(delay)) { _ in log.note(name) }
                loop.add(timer, forMode: .default)
            }
            loop.run()
        }
        #expect(log.difference(from: ["1 s: b", "1 s: d", "2 s: a", "2 s: c"]) == nil)
    }

    @Test func aTimerWithToleranceIsNeitherEarlyNorLaterThanThat() {
        UVRunLoop.withVirtualLoop { loop in
            let start = loop.now
            var delays: [Duration] = []
            for (delay, tolerance) in [(10, 5), (12, 1)] {
                let timer = UVRunLoop.Timer(
                    after: .seconds(delay),
                    tolerance: .seconds(tolerance)
                ) { _ in
                    delays.append(start.duration(to: loop.now))
                }
                loop.add(timer, forMode: .default)
            }
            loop.run()
            // One wake-up serves both windows.
            #expect(delays.count == 2)
            #expect(delays.first == delays.last)
            #expect(delays.allSatisfy { $0 >= .seconds(12) && $0 <= .seconds(13) })
        }
    }

    // MARK: Late

    @Test func timeThatPassesInAHandlerMakesDatesMissed() {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let timer = UVRunLoop.Timer(after: .seconds(1), interval: .seconds(1)) { timer in
                log.note("missed \(timer.missedFires)")
                if log.count == 1 { clock.advance(by: .milliseconds(3_500)) }
                if log.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.run()
        }
        let expected = ["1 s: missed 0", "5 s: missed 3", "6 s: missed 0"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func timeThatPassesInAHandlerMakesOtherTimersLate() {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            loop.requestPerform(after: .seconds(1)) {
                log.note("busy")
                clock.advance(by: .seconds(3))
            }
            for seconds in [2, 5] {
                let timer = UVRunLoop.Timer(after: .seconds(seconds)) { _ in log.note("timer") }
                loop.add(timer, forMode: .default)
            }
            loop.run()
        }
        let expected = ["1 s: busy", "4 s: timer", "5 s: timer"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func timeThatPassesBetweenRunsMakesDatesLate() {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let timer = UVRunLoop.Timer(after: .seconds(1)) { _ in log.note("fire") }
            loop.add(timer, forMode: .default)
            clock.advance(by: .seconds(5))
            #expect(log.count == 0)
            #expect(loop.run(for: .zero) == .timedOut)
        }
        #expect(log.difference(from: ["5 s: fire"]) == nil)
    }

    @Test func aClockDoesNotGoBack() async {
        await #expect(processExitsWith: .failure) {
            UVRunLoop.VirtualClock().advance(by: .nanoseconds(-1))
        }
    }

    // MARK: Runs

    @Test func aRunEndsAtItsLimit() {
        UVRunLoop.withVirtualLoop { loop in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let start = loop.now
            #expect(loop.run(for: .nanoseconds(1)) == .timedOut)
            #expect(start.duration(to: loop.now) == .nanoseconds(1))
            #expect(loop.run(until: start + .seconds(3_600)) == .timedOut)
            #expect(start.duration(to: loop.now) == .seconds(3_600))
            #expect(loop.run(for: .zero) == .timedOut)
            #expect(start.duration(to: loop.now) == .seconds(3_600))
        }
    }

    @Test func aNestedRunJumpsToo() {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let inner = UVRunLoop.Timer(after: .seconds(7)) { _ in log.note("inner") }
            loop.add(inner, forMode: Self.inner)
            let outer = UVRunLoop.Timer(after: .seconds(1), interval: .seconds(2)) { timer in
                log.note("outer, missed \(timer.missedFires)")
                if log.count > 1 { return timer.invalidate() }
                #expect(loop.run(mode: Self.inner, for: nil) == .finished)
                log.note("back")
            }
            loop.add(outer, forMode: .default)
            #expect(loop.run(for: nil) == .finished)
        }
        let expected = ["1 s: outer, missed 0", "7 s: inner", "7 s: back", "9 s: outer, missed 3"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func theLoopOfTheThreadIsAnotherAfterwards() {
        let inside = UVRunLoop.withVirtualLoop { $0 }
        #expect(UVRunLoop.current !== inside)
        struct Refusal: Error, Equatable {}
        #expect(throws: Refusal()) { try UVRunLoop.withVirtualLoop { _ in throw Refusal() } }
    }

    // MARK: Idleness

    @Test func aRunUntilIdleEndsWhenNothingIsLeft() {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            // Without anything to do, in an empty mode.
            #expect(loop.runUntilIdle() == .finished)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            let timer = UVRunLoop.Timer(after: .seconds(5)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            clock.after(.seconds(8)) { loop.perform { log.note("plan") } }
            #expect(loop.runUntilIdle() == .finished)
            #expect(clock.elapsed == .seconds(8))
            // A stop that somebody asks for is reported as such.
            clock.after(.seconds(1)) { loop.stop() }
            #expect(loop.runUntilIdle() == .stopped)
        }
        #expect(log.difference(from: ["5 s: timer", "8 s: plan"]) == nil)
    }

    @Test(arguments: [.nanoseconds(Int64.max), .seconds(Int64.max)] as [Duration])
    func aDateThatDoesNotFitIsNoDate(delay: Duration) {
        let clock = UVRunLoop.VirtualClock()
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let keeper = UVRunLoop.Timer(after: delay) { _ in
                Issue.record("A date that does not fit has come.")
            }
            loop.add(keeper, forMode: .default)
            clock.after(delay) { Issue.record("A plan without a date was carried out.") }
            #expect(loop.runUntilIdle() == .finished)
            #expect(clock.elapsed == .zero)
            // Nor does the clock go there.
            clock.advance(by: delay)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(loop.runUntilIdle() == .finished)
        }
    }

    @Test func aDateThatFitsComesHoweverFarAheadItIs() {
        let (clock, delay) = (UVRunLoop.VirtualClock(), Duration.seconds(292 * 365.25 * 86_400))
        let log = UVRunLoop.EventLog()
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            loop.add(UVRunLoop.Timer(after: delay) { _ in log.note("timer") }, forMode: .default)
            #expect(loop.runUntilIdle() == .finished)
            #expect(clock.elapsed == delay)
        }
        #expect(log.entries == ["timer"])
    }

    @Test func aNestedRunUntilIdleEndsBeforeTheOuterOne() {
        let log = UVRunLoop.EventLog()
        UVRunLoop.withVirtualLoop { loop in
            loop.performLocally {
                #expect(loop.runUntilIdle(mode: Self.inner) == .finished)
                log.note("inner")
            }
            #expect(loop.runUntilIdle() == .finished)
            log.note("outer")
        }
        #expect(log.difference(from: ["inner", "outer"]) == nil)
    }

    @Test func aNestedRunInWhichNothingHappensEndsAndTheOuterOneGoesOn() {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            loop.add(UVRunLoop.Port(sendableHandler: { _, _ in }), forMode: Self.inner)
            let first = UVRunLoop.Timer(after: .seconds(1)) { _ in
                log.note("inner \(loop.run(mode: Self.inner, for: nil))")
            }
            loop.add(first, forMode: .default)
            let second = UVRunLoop.Timer(after: .seconds(2)) { _ in log.note("later") }
            loop.add(second, forMode: .default)
            #expect(loop.runUntilIdle() == .finished)

            loop.add(
                UVRunLoop.Timer(after: .seconds(1)) { _ in
                    _ = loop.run(mode: Self.inner, for: nil)
                    loop.stop()
                },
                forMode: .default
            )
            #expect(loop.runUntilIdle() == .stopped)
        }
        #expect(log.difference(from: ["1 s: inner stopped", "2 s: later"]) == nil)
    }

    private static func runALoopInRealTime() { UVRunLoop.current.runUntilIdle() }

    @Test func aLoopInRealTimeDoesNotRunUntilIdle() async {
        await #expect(processExitsWith: .failure) { Self.runALoopInRealTime() }
    }
}

/// Dumping a clock and a log, as a failed expectation does.
@Suite(.timeLimit(.minutes(15))) struct TestingReflectionTests {
    @Test func clocksAndLogsHaveNoChildren() {
        let clock = UVRunLoop.VirtualClock()
        for object in [clock, UVRunLoop.EventLog(timedBy: clock)] as [any AnyObject] {
            var text = ""
            dump(object, to: &text)
            #expect(text.hasPrefix("- ") && text.count { $0 == "\n" } == 1)
        }
    }
}
