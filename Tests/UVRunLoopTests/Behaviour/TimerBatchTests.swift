import Testing
import UVRunLoop

/// The timers that are due together fire in their order, whatever their handlers change.
@Suite(.timeLimit(.minutes(15))) struct TimerBatchTests {
    /// Three timers that are due, and what the first one's handler does.
    private func fire(
        _ kind: DriverKind,
        _ change: @escaping (UVRunLoop, [UVRunLoop.Timer]) -> Void
    ) -> [String] {
        withLoop(kind) { loop, log in
            let timers = Box<[UVRunLoop.Timer]>([])
            let date = loop.now
            timers.value = ["A", "B", "C"].map { name in
                UVRunLoop.Timer(at: date) { _ in
                    log.note(name)
                    if name == "A" { change(loop, timers.value) }
                }
            }
            for timer in timers.value { loop.add(timer, forMode: .default) }
            log.observe(loop, .beforeTimers)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            timers.value = []
            return log.entries
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatIsAddedAgainIsLeftAlone(kind: DriverKind) {
        let entries = fire(kind) { loop, timers in loop.add(timers[1], forMode: .default) }
        #expect(entries == ["beforeTimers", "A", "B", "C"])
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatIsAddedToAFurtherModeKeepsItsTurn(kind: DriverKind) {
        let entries = fire(kind) { loop, timers in
            loop.add(timers[1], forMode: UVRunLoop.Mode("further"))
        }
        #expect(entries == ["beforeTimers", "A", "B", "C"])
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatIsSetToADueDateStillFiresInItsTurn(kind: DriverKind) {
        let entries = fire(kind) { loop, timers in timers[1].nextFireDate = loop.now }
        #expect(entries == ["beforeTimers", "A", "B", "C"])
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatIsSetToALaterDateWaitsForIt(kind: DriverKind) {
        let entries = fire(kind) { loop, timers in
            // Far off, so that it is not due again in this batch however long the batch takes.
            timers[1].nextFireDate = loop.now + .seconds(3600)
            // After the batch, which no block interrupts.
            loop.perform { timers[1].nextFireDate = loop.now }
        }
        #expect(entries == ["beforeTimers", "A", "C", "beforeTimers", "B"])
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatIsMadeInTheBatchWaitsForTheNextPass(kind: DriverKind) {
        let entries = fire(kind) { loop, _ in
            let timer = UVRunLoop.Timer(after: .zero) { _ in loop.perform {} }
            loop.add(timer, forMode: .default)
        }
        #expect(entries == ["beforeTimers", "A", "B", "C", "beforeTimers"])
    }

    /// A timer that a nested run has fired is not due any more.
    @Test(arguments: DriverKind.allCases)
    func aNestedRunFiresTheRestOfTheBatch(kind: DriverKind) {
        let entries = fire(kind) { loop, _ in loop.run(mode: .default, for: .zero) }
        #expect(entries == ["beforeTimers", "A", "beforeTimers", "B", "C"])
    }
}
