import Testing
import UVRunLoop

/// Repeating timers: the series of dates, missed dates, `fire()`.
@Suite(.timeLimit(.minutes(15))) struct RepeatingTimerTests {
    @Test(arguments: DriverKind.allCases)
    func repeatingTimerKeepsToItsOriginalDatesHoweverLateItFires(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let interval = Duration.milliseconds(3)
            let dates = Box<[UVRunLoop.Instant]>([])
            let timer = UVRunLoop.Timer(after: .milliseconds(2), interval: interval) { timer in
                if loop.now < timer.nextFireDate { log.note("early") }
                dates.value.append(timer.nextFireDate)
                letTimePass(.microseconds(700), loop)
                if dates.value.count == 5 { timer.invalidate() }
            }
            let first = timer.nextFireDate
            loop.add(timer, forMode: .default)
            #expect(timer.interval == interval)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)

            let numbers = dates.value.map { steps(from: first, to: $0, by: interval) }
            if kind == .manual { #expect(numbers == [0, 1, 2, 3, 4]) }
            #expect(numbers.first == 0)
            #expect(!numbers.contains(nil))
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { ($0 ?? 0) < ($1 ?? 0) })
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anyNumberOfMissedDatesIsOneFire(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let (first, missed) = (Box(loop.now), Box(-1))
            let interval = Duration.milliseconds(2)
            let timer = UVRunLoop.Timer(after: interval, interval: interval) { timer in
                log.note(timer.nextFireDate == first.value ? "first date" : "another date")
                missed.value = Int(timer.missedFires)
            }
            first.value = timer.nextFireDate
            loop.add(timer, forMode: .default)
            letTimePass(.milliseconds(21), loop)
            loop.run(mode: .default, for: .zero)

            #expect(log.entries == ["first date"])
            #expect(missed.value >= 9)
            #expect(timer.nextFireDate > first.value + interval * missed.value)
            #expect(steps(from: first.value, to: timer.nextFireDate, by: interval) != nil)
            if kind == .manual {
                #expect(missed.value == 9)
                #expect(timer.nextFireDate == first.value + .milliseconds(20))
            }
        }
    }

    @Test func aYearOfMissedDatesIsFoundAtOnce() {
        withLoop(.manual) { loop, log in
            let first = loop.now + .microseconds(100)
            let timer = UVRunLoop.Timer(at: first, interval: .microseconds(100)) { timer in
                log.note("missed \(timer.missedFires)")
            }
            loop.add(timer, forMode: .default)
            letTimePass(.seconds(31_536_000), loop)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["missed 315359999999"])
            #expect(timer.nextFireDate == first + .seconds(31_536_000))
        }
    }

    @Test func theGuidesTimerOfFiveSecondsFiresOnceForTheMissedPeriod() {
        withLoop(.manual) { loop, log in
            let start = loop.now
            let timer = UVRunLoop.Timer(after: .seconds(5), interval: .seconds(5)) { timer in
                let date = start.duration(to: timer.nextFireDate)
                let now = start.duration(to: loop.now)
                log.note("date \(date), now \(now), missed \(timer.missedFires)")
            }
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, until: start + .seconds(7))
            letTimePass(.milliseconds(16_250), loop)
            loop.run(mode: .default, until: start + .seconds(31))
            let story = [
                "date 5.0 seconds, now 5.0 seconds, missed 0",
                "date 10.0 seconds, now 23.25 seconds, missed 2",
                "date 25.0 seconds, now 25.0 seconds, missed 0",
                "date 30.0 seconds, now 30.0 seconds, missed 0",
            ]
            #expect(log.entries == story)
        }
    }

    /// Less than an interval, and more; before the handler, and in it.
    @Test func noDelayMovesTheDatesOfTheGuidesTimer() {
        withLoop(.manual) { loop, log in
            let start = loop.now
            let timer = UVRunLoop.Timer(after: .seconds(5), interval: .seconds(5)) { timer in
                let date = start.duration(to: timer.nextFireDate)
                log.note("date \(date), now \(start.duration(to: loop.now))")
                letTimePass(.milliseconds(log.entries.count == 3 ? 6_100 : 700), loop)
            }
            loop.add(timer, forMode: .default)
            for delay in [0, 1_300, 4_900, 0, 0, 7_700] {
                letTimePass(.milliseconds(delay), loop)
                loop.run(mode: .default, until: timer.nextFireDate)
            }
            let story = [
                "date 5.0 seconds, now 5.0 seconds",
                "date 10.0 seconds, now 10.0 seconds",
                "date 15.0 seconds, now 15.6 seconds",
                "date 25.0 seconds, now 25.0 seconds",
                "date 30.0 seconds, now 30.0 seconds",
                "date 35.0 seconds, now 38.4 seconds",
            ]
            #expect(log.entries == story)
            #expect(timer.nextFireDate == start + .seconds(40))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func firesAndMissedFiresAreTheDatesPassed(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = loop.now + .milliseconds(1)
            let interval = Duration.milliseconds(1)
            let counted = Box(0)
            let fires = Box(0)
            let timer = UVRunLoop.Timer(at: first, interval: interval) { timer in
                fires.value += 1
                counted.value += 1 + Int(timer.missedFires)
                let atLeast = 1 + (steps(from: first, to: timer.nextFireDate, by: interval) ?? 0)
                let atMost = 1 + wholeSteps(from: first, to: loop.now, by: interval)
                if counted.value < atLeast || counted.value > atMost {
                    log.note("fire \(fires.value): \(atLeast) ≤ \(counted.value) ≤ \(atMost)")
                }
                letTimePass(.microseconds(1700) * fires.value, loop)
                if fires.value == 5 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            letTimePass(.microseconds(4500), loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(fires.value == 5)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func nextDateIsComputedAfterTheHandlerReturned(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let end = Box(loop.now)
            let interval = Duration.milliseconds(2)
            let timer = UVRunLoop.Timer(after: .milliseconds(1), interval: interval) { _ in
                log.note("fired")
                letTimePass(.milliseconds(9), loop)
                end.value = loop.now
            }
            let first = timer.nextFireDate
            loop.add(timer, forMode: .default)
            letTimePass(.milliseconds(1), loop)
            loop.run(mode: .default, for: .zero)
            #expect(timer.nextFireDate > end.value)
            #expect(steps(from: first, to: timer.nextFireDate, by: .milliseconds(2)) != nil)
            if kind == .manual { #expect(timer.nextFireDate == first + .milliseconds(10)) }
            #expect(log.entries == ["fired"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerInvalidatedInItsOwnHandlerDoesNotFireAgain(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
                timer.invalidate()
                log.note(timer.isValid ? "valid" : "invalid")
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["invalid"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerRemovedInItsOwnHandlerStaysValidAndSilent(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
                log.note("fired")
                loop.remove(timer, forMode: .default)
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(timer.isValid)
            #expect(log.entries == ["fired"])

            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["fired", "fired"])
        }
    }

    @Test func aTimerRemovedInItsOwnHandlerGoesOnFromTheHandlersEnd() throws {
        try withLoop(.manual) { loop, log in
            let clock = try #require(virtualClock(of: loop))
            let interval = Duration.milliseconds(1)
            let timer = UVRunLoop.Timer(after: interval, interval: interval) { timer in
                let date = timer.nextFireDate
                loop.remove(timer, forMode: .default)
                clock.advance(by: .microseconds(10_500))
                log.note(timer.nextFireDate == date ? "the date being fired" : "another date")
            }
            loop.add(timer, forMode: .default)
            let date = timer.nextFireDate
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["the date being fired"])
            #expect(timer.nextFireDate == date + .milliseconds(11))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func repeatingTimerKeepsARunGoingUntilItsLimit(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1), interval: .milliseconds(1)) { _ in
                log.note("fired")
            }
            loop.add(timer, forMode: .default)
            let limit = loop.now + .milliseconds(6)
            #expect(loop.run(mode: .default, until: limit) == .timedOut)
            #expect(loop.now >= limit)
            #expect(timer.isValid)
            #expect(!log.entries.isEmpty)
            if kind == .manual { #expect(log.entries.count == 6) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRepeatingTimerWakesTheThreadAgainAndAgain(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            let timer = UVRunLoop.Timer(after: .milliseconds(1), interval: .milliseconds(1)) { _ in
                log.note("fired")
                if log.entries.count(where: { $0 == "fired" }) == 5 { loop.stop() }
            }
            loop.add(timer, forMode: .default)
            log.observe(loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            let pass = ["beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", "fired"]
            let passes = Array(repeatElement(pass, count: 5).joined())
            #expect(log.entries == ["entry"] + passes + ["exit"])
            #expect(start.duration(to: loop.now) >= .milliseconds(5))
        }
    }

    @Test(arguments: DriverKind.allCases, [Duration.zero, .milliseconds(-3)])
    func intervalOfZeroOrLessRepeatsEveryTenthOfAMillisecond(kind: DriverKind, interval: Duration) {
        withLoop(kind) { loop, log in
            let dates = Box<[UVRunLoop.Instant]>([])
            let timer = UVRunLoop.Timer(after: .milliseconds(1), interval: interval) { timer in
                dates.value.append(timer.nextFireDate)
                if dates.value.count == 4 { timer.invalidate() }
            }
            let first = timer.nextFireDate
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            let numbers = dates.value.map { steps(from: first, to: $0, by: .microseconds(100)) }
            if kind == .manual { #expect(numbers == [0, 1, 2, 3]) }
            #expect(numbers.count == 4)
            #expect(!numbers.contains(nil))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func fireCallsTheHandlerAtOnceAndLeavesTheDatesOfARepeatingTimer(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .seconds(60), interval: .seconds(60)) { _ in
                log.note("fired")
            }
            loop.add(timer, forMode: .default)
            let date = timer.nextFireDate
            timer.fire()
            log.note("returned")
            timer.fire()
            #expect(timer.nextFireDate == date)
            #expect(timer.isValid)
            #expect(loop.contains(timer, forMode: .default))
            #expect(log.entries == ["fired", "returned", "fired"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func fireInvalidatesAOneShotTimer(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("fired") }
            loop.add(timer, forMode: .default)
            timer.fire()
            #expect(!timer.isValid)
            timer.fire()
            letTimePass(.milliseconds(3), loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["fired"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func datesMissedBecauseAnotherModeRanAreOneFireToo(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let interval = Duration.milliseconds(1)
            let timer = UVRunLoop.Timer(after: interval, interval: interval) { timer in
                log.note(timer.missedFires >= 4 ? "several missed" : "missed \(timer.missedFires)")
                timer.invalidate()
            }
            loop.add(timer, forMode: other)
            #expect(loop.run(mode: .default, for: .milliseconds(6)) == .timedOut)
            #expect(loop.run(mode: other, for: .seconds(60)) == .finished)
            #expect(log.entries == ["several missed"])
        }
    }
}

/// How many intervals lie between two dates, or `nil` if it is no whole number of them.
private func steps(
    from start: UVRunLoop.Instant,
    to end: UVRunLoop.Instant,
    by interval: Duration
) -> Int? {
    let whole = wholeSteps(from: start, to: end, by: interval)
    return start + interval * whole == end ? whole : nil
}

private func wholeSteps(
    from start: UVRunLoop.Instant,
    to end: UVRunLoop.Instant,
    by interval: Duration
) -> Int {
    Int(nanoseconds(start.duration(to: end)) / nanoseconds(interval))
}

private func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
}
