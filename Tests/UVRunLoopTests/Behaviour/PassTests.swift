import Testing
import UVRunLoop

/// The ten steps of a pass, as observers and handlers see them.
@Suite(.timeLimit(.minutes(15))) struct PassTests {
    @Test(arguments: DriverKind.allCases)
    func aPassWithNothingToDoSleepsUntilTheLimit(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            let start = loop.now
            let result = loop.run(mode: .default, for: .milliseconds(5))
            #expect(result == .timedOut)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
            #expect(start.duration(to: loop.now) >= .milliseconds(5))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerAlreadyDueFiresAfterBothWaitingNotifications(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addTimer(to: loop, after: .milliseconds(1)) { log.note("timer") }
            letTimePass(.milliseconds(2), loop)
            let start = loop.now
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .finished)
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            if kind == .manual { #expect(loop.now == start) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatBecomesDueDuringTheSleepEndsItAndFires(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let start = loop.now
            addTimer(to: loop, after: .milliseconds(5)) { log.note("timer") }
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .finished)
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            #expect(start.duration(to: loop.now) >= .milliseconds(5))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func allDueTimersFireInOnePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let later = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("later") }
            loop.add(later, forMode: .default)
            let sooner = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("sooner") }
            loop.add(sooner, forMode: .default)
            later.nextFireDate = sooner.nextFireDate + .milliseconds(1)
            letTimePass(.milliseconds(3), loop)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["sooner", "later", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func afterATimerTheLoopGoesBackToTheSecondStep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stop(loop, inPass: 2)
            addTimer(to: loop, after: .milliseconds(1)) { log.note("timer") }
            letTimePass(.milliseconds(2), loop)
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + ["timer"] + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aHandledSourceLeavesOutBothWaitingNotifications(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addSignalledSource(to: loop) { log.note("source") }
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "source", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func afterASourceTheLoopGoesBackToTheSecondStep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            stop(loop, inPass: 2)
            addSignalledSource(to: loop) { log.note("source") }
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(
                log.entries == ["entry", "beforeTimers", "beforeSources", "source"]
                    + sleepingPass + ["exit"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases, [UVRunLoop.Activities.beforeTimers, .beforeSources])
    func aSourceSignalledByAnEarlyObserverFiresInTheSamePass(
        kind: DriverKind,
        moment: UVRunLoop.Activities
    ) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            log.observe(loop)
            loop.add(
                UVRunLoop.Observer(activities: moment) { _, _ in source.signal() },
                forMode: .default
            )
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "source", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aHandledSourceIsFollowedByACheckForDueTimers(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addTimer(to: loop, after: .milliseconds(1)) { log.note("timer") }
            addSignalledSource(to: loop) { log.note("source") }
            letTimePass(.milliseconds(2), loop)
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "source", "timer", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLimitAlreadyPastMeansOnePassWithoutTheWaitingNotifications(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            let result = loop.run(mode: .default, for: .zero)
            #expect(result == .timedOut)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunWhoseLimitIsPastFiresDueTimers(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addTimer(to: loop, after: .milliseconds(1)) { log.note("timer") }
            letTimePass(.milliseconds(2), loop)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "timer", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLimitThatPassesDuringTheRunLeavesTheWaitingNotificationsIn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            let observer = UVRunLoop.Observer(activities: .beforeSources) { _, _ in
                letTimePass(.milliseconds(40), loop)
            }
            loop.add(observer, forMode: .default)
            let result = loop.run(mode: .default, for: .milliseconds(20))
            #expect(result == .timedOut)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func onePassTellsItsWholeStoryInOrder(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addSignalledSource(to: loop) {
                log.note("source")
                loop.perform { log.note("block of the source") }
            }
            addTimer(to: loop, after: .milliseconds(1)) {
                log.note("timer")
                loop.perform { log.note("block of the timer") }
            }
            loop.perform { log.note("block") }
            letTimePass(.milliseconds(2), loop)
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "block",
                    "source", "block of the source", "timer", "block of the timer", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func entryAndExitComeOncePerRunNestedRunsIncluded(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addTimer(to: loop, after: .milliseconds(1)) {
                log.note("timer begins")
                loop.run(mode: .default, for: .zero)
                log.note("timer ends")
            }
            letTimePass(.milliseconds(2), loop)
            loop.run(mode: .default, for: .seconds(60))
            #expect(
                log.entries == ["entry"] + sleepingPass
                    + ["timer begins", "entry", "beforeTimers", "beforeSources", "exit"]
                    + ["timer ends", "exit"]
            )
        }
    }
}
