import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopTesting

/// When a clock may jump, and to where: the decisions, without threads.
@Suite(.timeLimit(.minutes(15))) struct ClockStateTests {
    /// Loops of a clock, whose sleep the test decides.
    private final class Loops {
        var state = ClockState()
        private(set) var states: [WakeState] = []
        private let events: [Pipe]

        init(_ count: Int) {
            // A pipe takes the signals of a wake event as well.
            events = (0..<count).map { _ in Pipe() }
            for event in events {
                let wakeState = WakeState()
                states.append(wakeState)
                _ = state.addLoop(nil, wakeState, wakeDescriptor: event.writeEnd)
            }
        }

        func fallAsleep(_ number: Int, until seconds: Int64?, nestingLevel: Int = 1) {
            _ = states[number - 1].fallAsleep()
            let date = seconds.map { ClockState.start + $0 * 1_000_000_000 }
            state.fallAsleep(number, until: date, nestingLevel: nestingLevel)
        }

        /// The next step of the loop, in one or two words.
        func step(_ number: Int) -> String {
            switch state.step(of: number) {
            case .wakeUp: "wake up"
            case .block: "block"
            case .carryOut: "carry out"
            case .finish: "finish"
            }
        }

        var seconds: Int64 { (state.now - ClockState.start) / 1_000_000_000 }
        func isAwake(_ number: Int) -> Bool { !state.loops[number - 1].isAsleep }
    }

    @Test func theClockJumpsToTheSoonestDate() {
        let loops = Loops(2)
        loops.fallAsleep(1, until: 5)
        #expect(loops.step(1) == "block")
        #expect(loops.seconds == 0)
        loops.fallAsleep(2, until: 3)
        #expect(loops.step(2) == "wake up")
        #expect(loops.seconds == 3)
        // The other one still waits, because this one is awake.
        #expect(loops.step(1) == "block")
        #expect(loops.seconds == 3)
    }

    @Test func aLoopOfAnotherThreadIsMadeAwakeByTheJump() {
        let loops = Loops(2)
        loops.fallAsleep(1, until: 1)
        #expect(loops.step(1) == "block")
        loops.fallAsleep(2, until: 2)
        #expect(loops.step(2) == "block")
        #expect(loops.seconds == 1)
        #expect(loops.isAwake(1))
        // Before its thread notices, no other jump is made.
        #expect(loops.step(2) == "block")
        #expect(loops.seconds == 1)
        #expect(loops.step(1) == "wake up")
    }

    @Test func ofEqualDatesOneLoopIsAwakeAtATime() {
        let loops = Loops(2)
        loops.fallAsleep(2, until: 1)
        loops.fallAsleep(1, until: 1)
        #expect(loops.step(2) == "block")
        #expect(loops.isAwake(1))
        #expect(!loops.isAwake(2))
        #expect(loops.step(1) == "wake up")
        loops.fallAsleep(1, until: nil)
        #expect(loops.step(1) == "block")
        #expect(loops.isAwake(2))
    }

    @Test func aMarkedWordKeepsTheClock() {
        let loops = Loops(2)
        loops.fallAsleep(1, until: 1)
        loops.fallAsleep(2, until: 2)
        // The sender has not come to the clock's lock yet.
        _ = loops.states[1].markChanged()
        #expect(loops.step(1) == "block")
        #expect(loops.seconds == 0)
        #expect(loops.step(2) == "wake up")
        #expect(loops.seconds == 0)
    }

    @Test func aHoldKeepsTheClock() {
        let loops = Loops(1)
        let holds = [loops.state.hold("a"), loops.state.hold("b")]
        loops.fallAsleep(1, until: 1)
        for hold in holds {
            #expect(loops.step(1) == "block")
            loops.state.release(hold: hold)
        }
        #expect(loops.step(1) == "wake up")
        #expect(loops.seconds == 1)
    }

    @Test func whatIsDueNeedsNoJumpAndIgnoresHolds() {
        let loops = Loops(2)
        _ = loops.state.hold("a")
        loops.state.advance(by: 2_000_000_000)
        loops.fallAsleep(1, until: 2)
        loops.fallAsleep(2, until: 1)
        #expect(loops.step(2) == "wake up")
        loops.fallAsleep(2, until: 3)
        #expect(loops.step(2) == "block")
        #expect(loops.step(1) == "wake up")
        loops.fallAsleep(1, until: nil)
        #expect(loops.step(1) == "block")
        #expect(loops.seconds == 2)
    }

    @Test func aReadyDescriptorKeepsTheClock() {
        let loops = Loops(2)
        let pipe = Pipe()
        pipe.write("x")
        let change = WatchChange(descriptor: pipe.readEnd, registration: 1, events: .readable)
        loops.state.withLoop(2) { $0.watch(change) }
        loops.fallAsleep(1, until: 1)
        loops.fallAsleep(2, until: nil)
        #expect(loops.step(1) == "block")
        #expect(loops.seconds == 0)
        // Paused, it counts no more.
        let paused = WatchChange(descriptor: pipe.readEnd, registration: 1, events: nil)
        loops.state.withLoop(2) { $0.rearm(paused) }
        #expect(loops.step(1) == "wake up")
        #expect(loops.seconds == 1)
    }

    @Test func aPlanKeepsTheClockWhileItIsCarriedOut() {
        let loops = Loops(2)
        loops.state.plan(at: ClockState.start + 1_000_000_000) {}
        loops.fallAsleep(1, until: 1)
        loops.fallAsleep(2, until: 2)
        #expect(loops.step(2) == "carry out")
        #expect(loops.seconds == 1)
        // The loop that the plan wakes stays asleep until the plan has ended.
        _ = loops.states[0].markChanged()
        loops.state.wake(1)
        #expect(loops.step(1) == "block")
        #expect(loops.step(2) == "block")
        loops.state.planDidEnd()
        #expect(loops.step(2) == "block")
        #expect(loops.step(1) == "wake up")
        #expect(loops.seconds == 1)
    }

    @Test func aLoopThatIsRemovedHoldsNothing() {
        let loops = Loops(2)
        loops.fallAsleep(2, until: 1)
        #expect(loops.step(2) == "block")
        loops.state.removeLoop(1)
        #expect(loops.step(2) == "wake up")
        #expect(loops.seconds == 1)
    }

    @Test func timeThatPassesIsNotTakenBackByADateBeforeIt() {
        let loops = Loops(1)
        loops.state.advance(by: 5_000_000_000)
        loops.fallAsleep(1, until: 1)
        #expect(loops.step(1) == "wake up")
        #expect(loops.seconds == 5)
        loops.state.advance(by: .max)
        // One less than the date that stands for those that do not fit.
        #expect(loops.state.now == .max - 1)
    }

    @Test func onlyLoopsThatRunUntilThenAreToldThatNothingHappens() {
        let loops = Loops(2)
        loops.state.withLoop(1) { $0.idleAction = IdleAction(nestingLevel: 1) {} }
        loops.fallAsleep(1, until: nil)
        loops.fallAsleep(2, until: nil)
        #expect(loops.step(2) == "block")
        #expect(loops.isAwake(1))
        #expect(!loops.isAwake(2))
        #expect(loops.step(1) == "finish")
        #expect(loops.step(1) == "wake up")
    }

    /// What follows it may have something for the other loop.
    @Test func aNestedRunIsToldFirst() {
        let loops = Loops(2)
        for number in 1...2 {
            loops.state.withLoop(number) { $0.idleAction = IdleAction(nestingLevel: 1) {} }
        }
        loops.fallAsleep(1, until: nil, nestingLevel: 2)
        loops.fallAsleep(2, until: nil)
        #expect(loops.step(2) == "block")
        #expect(loops.isAwake(1) && !loops.isAwake(2))
        #expect(loops.step(1) == "finish")
        loops.fallAsleep(1, until: nil)
        #expect(loops.step(1) == "finish")
        #expect(loops.isAwake(2))
        #expect(loops.step(2) == "finish")
    }

    @Test func whateverHappensIsActivity() {
        let loops = Loops(1)
        var before = loops.state.activity
        func isActivity(_ event: () -> Void) -> Bool {
            event()
            return exchange(&before, with: loops.state.activity) != loops.state.activity
        }
        #expect(isActivity { loops.fallAsleep(1, until: 1) })
        #expect(isActivity { loops.state.wake(1) })
        #expect(isActivity { loops.state.advance(by: 0) })
        #expect(isActivity { loops.state.plan(at: ClockState.start) {} })
        #expect(isActivity { _ = loops.step(1) })
        #expect(isActivity { loops.state.planDidEnd() })
        #expect(isActivity { _ = loops.step(1) })
        #expect(isActivity { loops.state.release(hold: loops.state.hold("")) })
        #expect(isActivity { loops.state.removeLoop(1) })
        #expect(!isActivity { _ = loops.state.sentence })
    }
}
