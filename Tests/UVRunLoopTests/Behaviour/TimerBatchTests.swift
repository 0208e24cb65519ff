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

    @Test(arguments: DriverKind.allCases, [UVRunLoop.Mode.default, .common])
    func aTimerThatIsAddedAgainBeforeItIsDueKeepsItsPlace(kind: DriverKind, mode: UVRunLoop.Mode) {
        withLoop(kind) { loop, log in
            let date = loop.now.advanced(by: .milliseconds(1))
            let timers = ["A", "B"].map { name in
                UVRunLoop.Timer(at: date) { _ in log.note(name) }
            }
            for timer in timers { loop.add(timer, forMode: mode) }
            loop.add(timers[0], forMode: mode)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["A", "B"])
        }
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

    /// In whatever order they are set to another date, and whether or not it is due.
    @Test(arguments: DriverKind.allCases)
    func timersThatAreSetInAnyOrderFireInTheirOwn(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            var generator = SeededGenerator(seed: 15)
            let (count, date) = (300, loop.now)
            let order = (1..<count).shuffled(using: &generator)
            let (timers, fired) = (Box<[UVRunLoop.Timer]>([]), Box<[Int]>([]))
            timers.value = (0..<count).map { number in
                UVRunLoop.Timer(at: date) { _ in
                    fired.value.append(number)
                    for other in number == 0 ? order : [] {
                        let delay: Duration = other % 3 == 0 ? .seconds(3_600) : .zero
                        timers.value[other].nextFireDate = loop.now.advanced(by: delay)
                    }
                }
            }
            for timer in timers.value { loop.add(timer, forMode: .default) }
            loop.run(mode: .default, for: .zero)
            #expect(fired.value == (0..<count).filter { $0 == 0 || $0 % 3 != 0 })
            for timer in timers.value { timer.invalidate() }
            timers.value = []
        }
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

    // MARK: Captures that are released

    /// What the end of a handler's captures does to the timer that is next.
    enum Ending: CaseIterable { case invalidation, removal, newDate, nestedRun }

    @Test(arguments: Ending.allCases)
    func aCaptureThatIsReleasedChangesWhatIsNext(ending: Ending) {
        withLoop(.manual) { loop, log in
            let date = loop.now
            let next = UVRunLoop.Timer(at: date) { _ in log.note("B") }
            var capture: Farewell? = Farewell {
                switch ending {
                case .invalidation: next.invalidate()
                case .removal: loop.remove(next, forMode: .default)
                case .newDate: next.nextFireDate = date + .seconds(3_600)
                case .nestedRun: loop.run(mode: .default, for: .zero)
                }
                log.note("released")
            }
            let timer = UVRunLoop.Timer(at: date) { [capture] _ in
                withExtendedLifetime(capture) { log.note("A") }
            }
            capture = nil
            loop.add(timer, forMode: .default)
            loop.add(next, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(
                log.entries == (ending == .nestedRun ? ["A", "B", "released"] : ["A", "released"])
            )
            next.invalidate()
        }
    }

    /// How the last call of a timer ends, whose handler alone holds the timer's owner.
    enum LastCall: CaseIterable { case invalidation, repeatingInvalidation, removal, fireInNoLoop }

    @Test(arguments: LastCall.allCases)
    func theOwnerOfATimerInvalidatesItWhenTheHandlerReleasesIt(lastCall: LastCall) {
        withLoop(.manual) { loop, log in
            let timer = SharedBox<UVRunLoop.Timer?>(nil)
            var owner: Farewell? = Farewell {
                timer.value?.invalidate()
                log.note("released")
            }
            let interval: Duration? = lastCall == .repeatingInvalidation ? .seconds(1) : nil
            timer.value = UVRunLoop.Timer(after: .zero, interval: interval) { [owner] timer in
                withExtendedLifetime(owner) { log.note("called") }
                switch lastCall {
                case .invalidation, .repeatingInvalidation: timer.invalidate()
                case .removal: loop.remove(timer, forMode: .default)
                case .fireInNoLoop: break
                }
            }
            owner = nil
            if lastCall == .fireInNoLoop {
                timer.value?.fire()
            } else if let timer = timer.value {
                loop.add(timer, forMode: .default)
                loop.run(mode: .default, for: .zero)
            }
            #expect(log.entries == ["called", "released"])
        }
    }
}
