import Testing
import UVRunLoop

/// The effects that a tolerance may have, and those that it may not have.
@Suite(.timeLimit(.minutes(15))) struct ToleranceTests {
    @Test(arguments: DriverKind.allCases)
    func aTimerThatIsDueWhenTheLoopChecksIsNotPutOffByItsTolerance(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            let tolerant = UVRunLoop.Timer(
                at: start + .milliseconds(2),
                tolerance: .seconds(50)
            ) { _ in log.note("tolerant") }
            let other = UVRunLoop.Timer(
                at: start + .seconds(30),
                tolerance: .seconds(1)
            ) { _ in log.note("other") }
            loop.add(tolerant, forMode: .default)
            loop.add(other, forMode: .default)
            letTimePass(.milliseconds(3), loop)
            loop.run(mode: .default, for: .milliseconds(1))
            #expect(log.entries == ["tolerant"])
        }
    }

    @Test(arguments: [DriverKind.manual])
    func oneWakeUpServesTimersWhoseWindowsOverlap(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            for delay in [10, 12, 14] {
                let timer = UVRunLoop.Timer(
                    at: start + .milliseconds(delay),
                    tolerance: .milliseconds(20)
                ) { _ in log.note("timer") }
                loop.add(timer, forMode: .default)
            }
            log.observe(loop, .afterWaiting)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["afterWaiting", "timer", "timer", "timer"])
            #expect(loop.now - start >= .milliseconds(14))
            #expect(loop.now - start <= .milliseconds(30))
        }
    }

    /// Whichever window was scheduled first.
    @Test(arguments: [DriverKind.manual], [[10, 99], [99, 10]])
    func oneWakeUpServesTimersWhoseWindowsEndTogether(kind: DriverKind, delays: [Int]) {
        withLoop(kind) { loop, log in
            let start = loop.now
            for delay in delays {
                let timer = UVRunLoop.Timer(
                    at: start + .milliseconds(delay),
                    tolerance: .milliseconds(100 - delay)
                ) { _ in log.note("timer") }
                loop.add(timer, forMode: .default)
            }
            log.observe(loop, .afterWaiting)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["afterWaiting", "timer", "timer"])
            #expect(loop.now - start <= .milliseconds(100))
        }
    }

    @Test(arguments: [DriverKind.manual])
    func aToleranceAboveTheIntervalFoldsWholeDatesIntoOneFire(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            var dates = 0
            let timer = UVRunLoop.Timer(
                at: start + .milliseconds(10),
                interval: .milliseconds(10),
                tolerance: .milliseconds(45)
            ) { timer in
                let late = loop.now - timer.nextFireDate
                dates += 1 + timer.missedFires
                log.note(late <= .milliseconds(45) ? "in time" : "late")
            }
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .seconds(1))
            #expect(log.entries.allSatisfy { $0 == "in time" })
            #expect((20...40).contains(log.count))
            // No date is counted twice, and none is lost but those that are not told yet.
            #expect((95...100).contains(dates))
        }
    }

    @Test(arguments: [DriverKind.manual])
    func noTimerWaitsForTheEndOfAnothersWindowBeyondItsOwn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            for (delay, tolerance) in [(10, 100), (20, 5), (60, 100)] {
                let timer = UVRunLoop.Timer(
                    at: start + .milliseconds(delay),
                    tolerance: .milliseconds(tolerance)
                ) { _ in
                    let waited = loop.now - start
                    log.note(waited <= .milliseconds(delay + tolerance) ? "in time" : "late")
                }
                loop.add(timer, forMode: .default)
            }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["in time", "in time", "in time"])
        }
    }
}
