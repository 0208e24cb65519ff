import Glibc
import Testing
import UVRunLoop

/// The changes that end a sleep, those that make it zero long, and those that do neither.
@Suite(.timeLimit(.minutes(15))) struct WakingTests {
    // MARK: Wake-ups

    @Test(arguments: DriverKind.allCases)
    func aWakeUpFromAnotherThreadEndsTheSleepAndStartsAnotherPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stop(loop, inPass: 2)
            duringSleep(of: loop) { loop.wakeUp() }
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func wakeUpsBeforeTheRunAreForgotten(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            loop.wakeUp()
            onAnotherThread { loop.wakeUp() }
            let start = loop.now
            let result = loop.run(mode: .default, for: .milliseconds(5))
            #expect(result == .timedOut)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
            #expect(start.duration(to: loop.now) >= .milliseconds(5))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aWakeUpFromAnEntryObserverIsForgotten(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            atFirst(.entry, of: loop) { loop.wakeUp() }
            let result = loop.run(mode: .default, for: .milliseconds(5))
            #expect(result == .timedOut)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases, [UVRunLoop.Activities.beforeSources, .beforeWaiting])
    func aWakeUpFromAnObserverAheadOfTheSleepEndsItAtOnce(
        kind: DriverKind,
        moment: UVRunLoop.Activities
    ) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stop(loop, inPass: 2)
            atFirst(moment, of: loop) { loop.wakeUp() }
            let start = loop.now
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
            if kind == .manual { #expect(loop.now == start) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aWakeUpFromABlockAheadOfTheSleepEndsItAtOnce(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stop(loop, inPass: 2)
            loop.perform { loop.wakeUp() }
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func manyWakeUpsAheadOfOneSleepAreOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            atFirst(.beforeSources, of: loop) {
                for _ in 1...3 { loop.wakeUp() }
                onAnotherThread { loop.wakeUp() }
            }
            duringSleep(2, of: loop) { loop.stop() }
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aWakeUpFromATimerIsForgottenByTheNextPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("timer")
                loop.wakeUp()
            }
            loop.add(timer, forMode: .default)
            letTimePass(.milliseconds(2), loop)
            duringSleep(2, of: loop) { loop.stop() }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer"] + sleepingPass + ["exit"])
        }
    }

    /// Only one from before the pass is forgotten.
    @Test(arguments: DriverKind.allCases, [UVRunLoop.Activities.beforeTimers, .beforeSources])
    func aWakeUpWithinThePassEndsItsSleep(kind: DriverKind, moment: UVRunLoop.Activities) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            atFirst(moment, of: loop) { loop.wakeUp() }
            duringSleep(2, of: loop) { loop.stop() }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aWakeUpFromASourceIsForgottenByTheNextPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let source = UVRunLoop.Source { _ in
                log.note("source")
                loop.wakeUp()
            }
            loop.add(source, forMode: .default)
            source.signal()
            duringSleep(of: loop) { loop.stop() }
            loop.run(mode: .default, for: .seconds(60))
            #expect(
                log.entries == ["entry", "beforeTimers", "beforeSources", "source"]
                    + sleepingPass + ["exit"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aNestedRunGivesTheOuterRunItsWakeUpBack(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            addFarTimer(to: loop)
            addFarTimer(to: loop, in: inner)
            log.observe(loop)
            stop(loop, inPass: 2)
            atFirst(.beforeSources, of: loop) {
                loop.wakeUp()
                loop.run(mode: inner, for: .zero)
            }
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
        }
    }

    // MARK: Sources from other threads

    @Test(arguments: DriverKind.allCases)
    func aSourceAddedByAnotherThreadGivesOneMorePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stop(loop, inPass: 2)
            let source = UVRunLoop.Source(sendablePerform: { _ in })
            duringSleep(of: loop) { onAnotherThread { loop.add(source, forMode: .default) } }
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aModeMadeCommonByAnotherThreadGivesOneMorePassWhenASourceJoins(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode(rawValue: "widened")
            loop.add(UVRunLoop.Source(sendablePerform: { _ in }), forMode: .common)
            addFarTimer(to: loop, in: mode)
            log.observe(loop, in: mode)
            stop(loop, inPass: 2, in: mode)
            duringSleep(of: loop, in: mode) { onAnotherThread { loop.addCommonMode(mode) } }
            let result = loop.run(mode: mode, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aModeMadeCommonByAnotherThreadGivesNoPassWhenNoSourceJoins(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode(rawValue: "widened")
            let start = loop.now
            let timer = UVRunLoop.Timer(at: start + .milliseconds(20)) { _ in log.note("timer") }
            loop.add(timer, forMode: .common)
            addFarTimer(to: loop, in: mode)
            log.observe(loop, in: mode)
            duringSleep(of: loop, in: mode) { onAnotherThread { loop.addCommonMode(mode) } }
            stop(loop, inPass: 2, in: mode)
            loop.run(mode: mode, for: .seconds(60))
            #expect(
                log.entries == ["entry"] + sleepingPass + ["timer"] + sleepingPass + ["exit"]
            )
            #expect(start.duration(to: loop.now) >= .milliseconds(20))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theLoopIsWaitingInItsSleepOnly(kind: DriverKind) {
        withLoop(kind) { loop, log in
            #expect(!loop.isWaiting)
            addFarTimer(to: loop)
            let observer = UVRunLoop.Observer(activities: .all) { _, _ in
                #expect(!loop.isWaiting)
            }
            loop.add(observer, forMode: .default)
            duringSleep(of: loop) {
                // A loaded machine may run this thread before the loop has reached its sleep.
                var checks = 0
                while !loop.isWaiting, checks < 1_000_000 {
                    checks += 1
                    sched_yield()
                }
                log.note(loop.isWaiting ? "waiting" : "awake")
                loop.stop()
            }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["waiting"])
            #expect(!loop.isWaiting)
        }
    }

    /// On libuv alone: virtual time has no processor.
    @Test func aSleepTakesNoProcessorTime() {
        withLoop(.uv) { loop, _ in
            addFarTimer(to: loop)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let (start, used) = (loop.now, threadProcessorTime())
            #expect(loop.run(mode: .default, for: .milliseconds(300)) == .timedOut)
            let elapsed = start.duration(to: loop.now)
            // On a busy machine both grow, but a thread that sleeps uses next to nothing.
            #expect(Duration.nanoseconds(threadProcessorTime() - used) < elapsed / 4)
        }
    }

    // MARK: Work known before the sleep makes it zero long

    @Test(arguments: DriverKind.allCases)
    func aBlockQueuedJustBeforeTheSleepMakesItZeroLong(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            atFirst(.beforeWaiting, of: loop) {
                loop.perform {
                    log.note("block")
                    loop.stop()
                }
            }
            let start = loop.now
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["entry"] + sleepingPass + ["block", "exit"])
            if kind == .manual { #expect(loop.now == start) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSignalJustBeforeTheSleepMakesItZeroLong(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            log.observe(loop)
            atFirst(.beforeWaiting, of: loop) { source.signal() }
            let start = loop.now
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(
                log.entries == ["entry"] + sleepingPass
                    + ["beforeTimers", "beforeSources", "source", "exit"]
            )
            if kind == .manual { #expect(loop.now == start) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func removingTheLastItemJustBeforeTheSleepMakesItZeroLong(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: .default)
            log.observe(loop)
            atFirst(.beforeWaiting, of: loop) { loop.remove(source, forMode: .default) }
            let result = loop.run(mode: .default, for: nil)
            #expect(result == .finished)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDueTimerAddedJustBeforeTheSleepMakesItZeroLong(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            atFirst(.beforeWaiting, of: loop) {
                addStoppingTimer(to: loop, at: loop.now, log)
            }
            let start = loop.now
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            if kind == .manual { #expect(loop.now == start) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerThatBecomesDueJustBeforeTheSleepMakesItZeroLong(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addStoppingTimer(to: loop, at: loop.now + .milliseconds(2), log)
            log.observe(loop)
            var due = loop.now
            atFirst(.beforeWaiting, of: loop) {
                letTimePass(.milliseconds(3), loop)
                due = loop.now
            }
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            if kind == .manual { #expect(loop.now == due) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theLoopsOwnAddJustBeforeTheSleepIsNoWakeUp(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            atFirst(.beforeWaiting, of: loop) {
                addStoppingTimer(to: loop, at: loop.now + .milliseconds(5), log)
                loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            }
            let start = loop.now
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            #expect(start.duration(to: loop.now) >= .milliseconds(5))
        }
    }
}

private func addStoppingTimer(to loop: UVRunLoop, at date: UVRunLoop.Instant, _ log: EventLog) {
    let timer = UVRunLoop.Timer(at: date) { _ in
        log.note("timer")
        loop.stop()
    }
    loop.add(timer, forMode: .default)
}

private func atFirst(
    _ moment: UVRunLoop.Activities,
    of loop: UVRunLoop,
    _ action: @escaping () -> Void
) {
    let observer = UVRunLoop.Observer(activities: moment, repeats: false) { _, _ in action() }
    loop.add(observer, forMode: .default)
}
