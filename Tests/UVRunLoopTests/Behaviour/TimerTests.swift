import Testing
import UVRunLoop

/// One-shot timers, and what holds for every timer: dates, order, batches, modes.
@Suite(.timeLimit(.minutes(15))) struct TimerTests {
    @Test(arguments: DriverKind.allCases)
    func timerNeverFiresBeforeItsDate(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for microseconds in [0, 1, 300, 999, 1000, 1700, 2250, 5001] {
                let date = loop.now + .microseconds(microseconds)
                let timer = UVRunLoop.Timer(at: date) { _ in
                    log.note(loop.now >= date ? "in time" : "\(microseconds) µs fired early")
                }
                loop.add(timer, forMode: .default)
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == Array(repeating: "in time", count: 8))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func delayCountsFromTheMomentTheTimerIsMade(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let before = loop.now
            let timer = UVRunLoop.Timer(after: .milliseconds(5)) { _ in }
            let after = loop.now
            #expect(timer.nextFireDate >= before + .milliseconds(5))
            #expect(timer.nextFireDate <= after + .milliseconds(5))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func oneShotTimerFiresOnceAndIsInvalidAfterwards(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { timer in
                log.note(timer.isValid ? "valid inside" : "invalid inside")
            }
            loop.add(timer, forMode: .default)
            #expect(timer.interval == nil)
            #expect(loop.contains(timer, forMode: .default))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(!timer.isValid)
            #expect(!loop.contains(timer, forMode: .default))
            #expect(log.entries == ["valid inside"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dateSetByAOneShotTimersHandlerDoesNotReviveIt(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { timer in
                log.note("fired")
                timer.nextFireDate = loop.now + .milliseconds(1)
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(!timer.isValid)
            #expect(log.entries == ["fired"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func handlerReceivesItsTimerAndReadsTheDateBeingFired(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let (date, received) = (Box(loop.now), Box<UVRunLoop.Timer?>(nil))
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { timer in
                received.value = timer
                log.note(timer.nextFireDate == date.value ? "date" : "another date")
            }
            date.value = timer.nextFireDate
            loop.add(timer, forMode: .default)
            letTimePass(.milliseconds(6), loop)
            loop.run(mode: .default, for: .zero)
            #expect(received.value === timer)
            #expect(log.entries == ["date"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerEndsTheSleepAndFiresBetweenTheNotifications(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let timer = UVRunLoop.Timer(after: .milliseconds(3)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            let story = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting",
                "timer", "exit",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerIsNoSourceAndDoesNotEndARunThatWaitsForOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for name in ["first", "second"] {
                let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in log.note(name) }
                loop.add(timer, forMode: .default)
            }
            let result = loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(result == .finished)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dueTimersFireInDateOrderTiesInOrderOfScheduling(kind: DriverKind) {
        withLoop(kind) { loop, log in
            // Far enough ahead for a machine that is not too busy to make all timers before.
            let start = loop.now + .milliseconds(200)
            var dates: [(name: String, date: UVRunLoop.Instant)] = []
            for (name, offset) in [("A", 3), ("B", 1), ("C", 2), ("D", 1), ("E", 3)] {
                let date = start + .milliseconds(offset)
                let timer = UVRunLoop.Timer(at: date) { _ in log.note(name) }
                // A date that had passed by then has become now.
                dates.append((name, timer.nextFireDate))
                loop.add(timer, forMode: .default)
            }
            log.observe(loop)
            letTimePass(.milliseconds(208), loop)
            loop.run(mode: .default, for: .zero)
            let names = dates.enumerated()
                .sorted { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) }
                .map(\.element.name)
            if kind == .manual { #expect(names == ["B", "D", "C", "A", "E"]) }
            #expect(
                log.entries == ["entry", "beforeTimers", "beforeSources"] + names + ["exit"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerThatBecomesDueDuringTheBatchWaitsForTheNextPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let far = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("redated") }
            loop.add(far, forMode: .default)
            let first = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("first")
                far.nextFireDate = loop.now
                let new = UVRunLoop.Timer(after: .zero) { _ in log.note("new") }
                loop.add(new, forMode: .default)
                letTimePass(.milliseconds(2), loop)
            }
            loop.add(first, forMode: .default)
            letTimePass(.milliseconds(3), loop)

            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["first"])
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["first", "redated", "new"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerInvalidatedByAnEarlierOneOfTheBatchDoesNotFire(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let later = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("later") }
            let earlier = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("earlier")
                later.invalidate()
            }
            makeDue(earlier, later, loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["earlier"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerRemovedFromTheRunningModeByAnEarlierOneFiresOnlyInItsOtherMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let later = UVRunLoop.Timer(after: .seconds(3600)) { _ in
                log.note(loop.currentMode == other ? "later in other" : "later in default")
            }
            let earlier = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("earlier")
                loop.remove(later, forMode: .default)
            }
            loop.add(later, forMode: other)
            makeDue(earlier, later, loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["earlier"])
            #expect(later.isValid)
            #expect(loop.run(mode: other, for: .seconds(60)) == .finished)
            #expect(log.entries == ["earlier", "later in other"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerRemovedFromAnotherModeByAnEarlierOneStillFires(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let later = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("later") }
            let earlier = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("earlier")
                loop.remove(later, forMode: other)
            }
            loop.add(later, forMode: other)
            makeDue(earlier, later, loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["earlier", "later"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerPutOffByAnEarlierOneOfTheBatchWaitsForItsNewDate(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let newDate = Box(loop.now)
            let later = UVRunLoop.Timer(after: .seconds(3600)) { _ in
                log.note(loop.now >= newDate.value ? "later" : "later, early")
            }
            let earlier = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("earlier")
                newDate.value = loop.now + .milliseconds(10)
                later.nextFireDate = newDate.value
            }
            makeDue(earlier, later, loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["earlier", "later"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerOutsideTheRunningModeStaysDueUntilItsModeRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }, forMode: other)
            log.observe(loop)
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            let quiet = [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", "exit",
            ]
            #expect(log.entries == quiet)
            #expect(loop.run(mode: other, for: .seconds(60)) == .finished)
            #expect(log.entries == quiet + ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerInSeveralModesFiresOncePerDate(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            loop.add(timer, forMode: other)
            #expect(loop.run(mode: other, for: .seconds(60)) == .finished)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(!loop.contains(timer, forMode: .default))
            #expect(!loop.contains(timer, forMode: other))
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerFiresInTheModesItIsInAndInNoOther(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let modes = [UVRunLoop.Mode("A"), UVRunLoop.Mode("B"), .default]
            for mode in modes { loop.add(UVRunLoop.Source { _ in }, forMode: mode) }
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { _ in
                log.note("timer in \(loop.currentMode?.rawValue ?? "no mode")")
            }
            loop.add(timer, forMode: modes[0])
            loop.add(timer, forMode: modes[1])
            #expect(modes.map { loop.contains(timer, forMode: $0) } == [true, true, false])
            for mode in modes + modes {
                letTimePass(.milliseconds(2), loop)
                #expect(loop.run(mode: mode, for: .zero) == .timedOut)
                log.note("returned")
            }
            let round = ["timer in A", "returned", "timer in B", "returned", "returned"]
            #expect(log.entries == round + round)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLoopThatDoesNotRunFiresNothing(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            letTimePass(.milliseconds(5), loop)
            #expect(log.entries == [])
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aFarTimerKeepsItsModeAlive(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .seconds(100_000)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            timer.invalidate()
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func oneShotTimerKeepsItsModeAliveWhileItsHandlerRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                let result = loop.run(mode: .default, for: .milliseconds(2))
                log.note(result == .timedOut ? "timed out" : "\(result)")
            }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["timed out"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerAddedTwiceFiresOnceAndAnInvalidOneIsIgnored(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            loop.add(timer, forMode: .default)
            #expect(!loop.contains(timer, forMode: .default))
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timerThatLeftItsLoopMayJoinAnother(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(
                after: .milliseconds(1),
                sendableHandler: { _ in
                    log.note("timer")
                }
            )
            loop.add(timer, forMode: .default)
            loop.remove(timer, forMode: .default)
            #expect(timer.isValid)
            onAnotherThread {
                UVRunLoop.current.add(timer, forMode: .default)
                UVRunLoop.current.run(mode: .default, for: .seconds(60))
            }
            #expect(log.entries == ["timer"])
        }
    }
}

/// Adds two timers, and makes both due, one after the other however busy the machine is.
private func makeDue(
    _ earlier: UVRunLoop.Timer,
    _ later: UVRunLoop.Timer,
    _ loop: UVRunLoop
) {
    loop.add(later, forMode: .default)
    loop.add(earlier, forMode: .default)
    later.nextFireDate = earlier.nextFireDate + .milliseconds(1)
    letTimePass(.milliseconds(3), loop)
}
