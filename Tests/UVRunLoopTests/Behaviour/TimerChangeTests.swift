import Testing
import UVRunLoop

/// Timers whose dates change, tolerance, and dates at the ends of time.
@Suite(.timeLimit(.minutes(15))) struct TimerChangeTests {
    @Test(arguments: DriverKind.allCases)
    func dateSetBeforeTheTimerIsAddedIsHonoured(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("fired") }
            timer.nextFireDate = loop.now + .milliseconds(1)
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["fired"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theDateOfATimerWhoseHandlerRunsIsStillTheModesSoonest(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            let interval = Duration.milliseconds(1)
            let fired = UVRunLoop.Timer(at: start + interval, interval: interval) { timer in
                log.note(
                    loop.nextFireDate(forMode: .default) == timer.nextFireDate ? "same" : "other"
                )
                timer.invalidate()
                log.note(
                    loop.nextFireDate(forMode: .default) == start + .seconds(3600) ? "next" : "?"
                )
                loop.stop()
            }
            let later = UVRunLoop.Timer(at: start + .seconds(3600)) { _ in log.note("later") }
            for timer in [later, fired] { loop.add(timer, forMode: .default) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["same", "next"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func newDateChangesTheOrder(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            let late = UVRunLoop.Timer(at: start + .milliseconds(1)) { _ in log.note("late") }
            let early = UVRunLoop.Timer(at: start + .seconds(3600)) { _ in log.note("early") }
            let fixed = UVRunLoop.Timer(at: start + .milliseconds(2)) { _ in log.note("fixed") }
            for timer in [late, early, fixed] { loop.add(timer, forMode: .default) }
            late.nextFireDate = start + .milliseconds(3)
            early.nextFireDate = start + .milliseconds(1)
            letTimePass(.milliseconds(6), loop)
            loop.run(mode: .default, for: .zero)
            // On a real clock a date may have passed before it was set, and so became now.
            #expect(Set(log.entries) == ["early", "fixed", "late"])
            if kind == .manual { #expect(log.entries == ["early", "fixed", "late"]) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dateSetInsideTheHandlerIsHonouredAndTheSeriesCountsFromThere(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let chosen = Box<UVRunLoop.Instant?>(nil)
            let dates = Box<[UVRunLoop.Instant]>([])
            let interval = Duration.milliseconds(4)
            let timer = UVRunLoop.Timer(after: .milliseconds(1), interval: interval) { timer in
                dates.value.append(timer.nextFireDate)
                if loop.now < timer.nextFireDate { log.note("early") }
                if chosen.value == nil {
                    let date = loop.now + .microseconds(10_300)
                    timer.nextFireDate = date
                    // A date that had passed by then has become now.
                    chosen.value = timer.nextFireDate
                    let isExact = timer.nextFireDate == date
                    if timer.nextFireDate < date || (kind == .manual && !isExact) {
                        log.note("another date")
                    }
                }
                if dates.value.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == [])
            #expect(dates.value.count == 3)
            guard let date = chosen.value, dates.value.count == 3 else { return }
            #expect(dates.value[1] == date)
            #expect(dates.value[2] >= date + interval)
            if kind == .manual { #expect(dates.value[2] == date + interval) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dateInThePastBecomesNowWhenMade(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let before = loop.now
            let past = before - .seconds(10)
            let timer = UVRunLoop.Timer(at: past, interval: .seconds(60)) { timer in
                log.note("missed \(timer.missedFires)")
            }
            let date = timer.nextFireDate
            #expect(date >= before)
            #expect(date <= loop.now)
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .zero)
            #expect(timer.nextFireDate == date + .seconds(60))
            #expect(log.entries == ["missed 0"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dateInThePastBecomesNowWhenSet(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .seconds(60), interval: .seconds(60)) { timer in
                log.note("missed \(timer.missedFires)")
            }
            loop.add(timer, forMode: .default)
            let before = loop.now
            timer.nextFireDate = before - .seconds(1000)
            let date = timer.nextFireDate
            #expect(date >= before)
            #expect(date <= loop.now)
            loop.run(mode: .default, for: .zero)
            #expect(timer.nextFireDate == date + .seconds(60))
            #expect(log.entries == ["missed 0"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerAddedByAnotherThreadChangesTheSleepWithoutANotification(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            let timer = UVRunLoop.Timer(
                after: .milliseconds(8),
                sendableHandler: { _ in
                    log.note("timer")
                    loop.stop()
                }
            )
            elsewhere(after: .milliseconds(3), loop) { loop.add(timer, forMode: .default) }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == onePass(with: "timer"))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerBroughtForwardByAnotherThreadChangesTheSleepWithoutANotification(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let timer = UVRunLoop.Timer(
                after: .seconds(3600),
                sendableHandler: { _ in log.note("timer") }
            )
            loop.add(timer, forMode: .default)
            let date = loop.now + .milliseconds(8)
            elsewhere(after: .milliseconds(3), loop) { timer.nextFireDate = date }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(loop.now >= date)
            #expect(log.entries == onePass(with: "timer"))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerPutOffByAnotherThreadChangesTheSleepWithoutANotification(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let first = loop.now + .milliseconds(250)
            let second = first + .milliseconds(20)
            let timer = UVRunLoop.Timer(at: first, sendableHandler: { _ in log.note("timer") })
            loop.add(timer, forMode: .default)
            // On a machine that is too busy for that nothing is to be seen.
            let isInTime = Guarded(false)
            let isDone = elsewhere(after: .milliseconds(3), loop) {
                timer.nextFireDate = second
                let isBefore = UVRunLoop.currentInstant < first
                isInTime.withLock { $0 = isBefore }
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            isDone.wait()
            guard kind == .manual || isInTime.withLock(\.self) else { return }
            #expect(loop.now >= second)
            #expect(log.entries == onePass(with: "timer"))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerRemovedByAnotherThreadChangesTheSleepWithoutANotification(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            let timer = UVRunLoop.Timer(
                after: .milliseconds(250),
                sendableHandler: { _ in log.note("timer") }
            )
            loop.add(timer, forMode: .default)
            // On a machine that is too busy for that nothing is to be seen.
            let isInTime = Guarded(false)
            let isDone = elsewhere(after: .milliseconds(3), loop) {
                loop.remove(timer, forMode: .default)
                let isBefore = UVRunLoop.currentInstant < timer.nextFireDate
                isInTime.withLock { $0 = isBefore }
            }
            #expect(loop.run(mode: .default, for: .milliseconds(270)) == .timedOut)
            isDone.wait()
            guard kind == .manual || isInTime.withLock(\.self) else { return }
            let story = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func lastTimerInvalidatedByAnotherThreadEndsTheRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(
                after: .seconds(3600),
                sendableHandler: { _ in log.note("timer") }
            )
            loop.add(timer, forMode: .default)
            let isDone = elsewhere(after: .milliseconds(3), loop) {
                timer.invalidate()
                log.note(timer.isValid ? "valid" : "invalid")
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            isDone.wait()
            #expect(log.entries == ["invalid"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatJoinsDuringItsCallCountsWithItsDate(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let date = loop.now + .seconds(10)
            var dates: [UVRunLoop.Instant?] = []
            let timer = UVRunLoop.Timer(at: date, interval: .seconds(10)) { timer in
                loop.add(timer, forMode: .default)
                dates.append(loop.nextFireDate(forMode: .default))
            }
            timer.fire()
            dates.append(loop.nextFireDate(forMode: .default))
            #expect(dates == [date, date])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func nextFireDateOfAModeIsItsSoonestTimers(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let other = UVRunLoop.Mode(rawValue: "other")
            #expect(loop.nextFireDate(forMode: .default) == nil)
            let start = loop.now
            let far = UVRunLoop.Timer(at: start + .seconds(200)) { _ in }
            let near = UVRunLoop.Timer(at: start + .seconds(100)) { _ in }
            let nearest = UVRunLoop.Timer(at: start + .seconds(50)) { _ in }
            loop.add(far, forMode: .default)
            loop.add(near, forMode: .default)
            loop.add(nearest, forMode: other)
            #expect(loop.nextFireDate(forMode: .default) == near.nextFireDate)
            #expect(loop.nextFireDate(forMode: other) == nearest.nextFireDate)
            near.invalidate()
            #expect(loop.nextFireDate(forMode: .default) == far.nextFireDate)
            far.nextFireDate = start + .seconds(300)
            #expect(loop.nextFireDate(forMode: .default) == start + .seconds(300))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func toleranceIsNeverUsedToFireEarly(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let start = loop.now
            for (name, date, tolerance) in [("A", 4, 9), ("B", 6, 1), ("C", 9, 50), ("D", 11, 0)] {
                let date = start + .milliseconds(date)
                let tolerance = Duration.milliseconds(tolerance)
                let timer = UVRunLoop.Timer(at: date, tolerance: tolerance) { timer in
                    if loop.now < date { log.note("\(name) early") }
                    // Virtual time shows what the loop did on its own account.
                    if kind == .manual, loop.now > date + tolerance { log.note("\(name) late") }
                }
                #expect(timer.tolerance == tolerance)
                loop.add(timer, forMode: .default)
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func toleranceMayChange(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let date = loop.now + .milliseconds(3)
            let timer = UVRunLoop.Timer(at: date, tolerance: .seconds(3600)) { _ in
                log.note(loop.now >= date ? "fired" : "early")
            }
            #expect(timer.tolerance == .seconds(3600))
            loop.add(timer, forMode: .default)
            timer.tolerance = .milliseconds(1)
            #expect(timer.tolerance == .milliseconds(1))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["fired"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerAtTheEndOfTimeIsOnlyFar(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let year = Duration.seconds(31_536_000)
            let timers = [
                UVRunLoop.Timer(after: .seconds(Int64.max)) { _ in log.note("after") },
                UVRunLoop.Timer(at: loop.now + .seconds(Int64.max)) { _ in log.note("at") },
                UVRunLoop.Timer(after: year * 1000, tolerance: .seconds(Int64.max)) { _ in
                    log.note("tolerance")
                },
            ]
            for timer in timers {
                loop.add(timer, forMode: .default)
                #expect(timer.nextFireDate > loop.now + year)
            }
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            #expect(timers.allSatisfy { $0.isValid })
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerBeforeTheBeginningOfTimeIsDueNow(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timers = [
                UVRunLoop.Timer(after: .seconds(Int64.min)) { _ in log.note("fired") },
                UVRunLoop.Timer(at: loop.now - .seconds(Int64.max)) { _ in log.note("fired") },
            ]
            for timer in timers { loop.add(timer, forMode: .default) }
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["fired", "fired"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anIntervalWithoutEndFiresOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero, interval: .seconds(Int64.max)) { _ in
                log.note("fired")
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(3)) == .timedOut)
            #expect(timer.isValid)
            #expect(timer.nextFireDate > loop.now + .seconds(31_536_000))
            #expect(log.entries == ["fired"])
        }
    }
}

/// A run of one pass with a sleep, ended by what `callout` did.
private func onePass(with callout: String) -> [String] {
    ["entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", callout, "exit"]
}
