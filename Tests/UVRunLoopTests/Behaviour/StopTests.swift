import Testing
import UVRunLoop

/// A stop at every moment of a run, and what is left of it afterwards.
@Suite(.timeLimit(.minutes(15))) struct StopTests {
    // MARK: From every kind of callout

    @Test(arguments: DriverKind.allCases)
    func aStopFromAnEntryObserverMeansThatNoPassRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSignalledSource(to: loop) { log.note("source") }
            log.observe(loop)
            stopAtFirst(.entry, of: loop, log)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["entry", "stop", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromABeforeTimersObserverLetsThePassGoOn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stopAtFirst(.beforeTimers, of: loop, log)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "stop", "beforeSources",
                    "beforeWaiting", "afterWaiting", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromABeforeSourcesObserverLetsThePassGoOn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stopAtFirst(.beforeSources, of: loop, log)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "stop",
                    "beforeWaiting", "afterWaiting", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromABlockSendsTheRemainingNotifications(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            loop.perform { stop(loop, log) }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "stop",
                    "beforeWaiting", "afterWaiting", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromASourceEndsTheRunAfterThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addSignalledSource(to: loop) { stop(loop, log) }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "stop", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromTheBlockOfASourceEndsTheRunAfterThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            addSignalledSource(to: loop) {
                log.note("source")
                loop.perform { stop(loop, log) }
            }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "source", "stop", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromAPortEndsTheRunAfterThePass(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let port = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                _ = pipe.read()
                stop(loop, log)
            }
            loop.add(port, forMode: .default)
            pipe.write("x")
            log.observe(loop)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "stop", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromABeforeWaitingObserverMakesTheSleepZeroLong(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stopAtFirst(.beforeWaiting, of: loop, log)
            let start = loop.now
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "beforeWaiting", "stop", "afterWaiting", "exit",
                ]
            )
            if kind == .manual { #expect(loop.now == start) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromAnotherThreadEndsTheSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                elsewhere(after: .milliseconds(5), loop) { stop(loop, log) }
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "beforeWaiting", "stop", "afterWaiting", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromAnAfterWaitingObserverEndsTheRunAfterThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            addFarTimer(to: loop)
            log.observe(loop)
            stopAtFirst(.afterWaiting, of: loop, log)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "beforeWaiting", "afterWaiting", "stop", "timer", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromATimerEndsTheRunAfterThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for name in ["first", "second"] {
                let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                    log.note(name)
                    loop.stop()
                }
                loop.add(timer, forMode: .default)
            }
            addFarTimer(to: loop)
            log.observe(loop)
            letTimePass(.milliseconds(3), loop)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "beforeWaiting", "afterWaiting", "first", "second", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromTheBlockOfATimerEndsTheRunAfterThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                loop.perform { stop(loop, log) }
            }
            loop.add(timer, forMode: .default)
            addFarTimer(to: loop)
            log.observe(loop)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "beforeWaiting", "afterWaiting", "stop", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromAnExitObserverStillCounts(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            stopAtFirst(.exit, of: loop, log)
            #expect(loop.run(mode: .default, for: .zero) == .stopped)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "exit", "stop"])
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func workOfTheStoppedPassIsStillDone(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSignalledSource(to: loop) { log.note("source") }
            loop.add(
                UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("timer") },
                forMode: .default
            )
            loop.perform { log.note("block") }
            letTimePass(.milliseconds(2), loop)
            stopAtFirst(.beforeTimers, of: loop, log)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["stop", "block", "source", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromAnotherThreadDuringACalloutCounts(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSignalledSource(to: loop) { onAnotherThread { stop(loop, log) } }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["stop"])
        }
    }

    // MARK: A stop lives and dies with its run

    @Test(arguments: DriverKind.allCases)
    func aStopBeforeARunIsForgotten(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            loop.stop()
            onAnotherThread { loop.stop() }
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "beforeWaiting", "afterWaiting", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func severalStopsEndOneRun(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            addFarTimer(to: loop)
            loop.perform {
                for _ in 1...3 { loop.stop() }
            }
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopEndsTheInnermostRunOnly(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            loop.perform {
                loop.perform { loop.stop() }
                log.note("inner \(loop.run(mode: .default, for: nil))")
            }
            log.note("outer \(loop.run(mode: .default, for: .milliseconds(2)))")
            #expect(log.entries == ["inner stopped", "outer timedOut"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopOfTheOuterRunWaitsForTheNestedRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            loop.perform {
                loop.stop()
                log.note("inner \(loop.run(mode: .default, for: .milliseconds(2)))")
            }
            log.note("outer \(loop.run(mode: .default, for: nil))")
            #expect(log.entries == ["inner timedOut", "outer stopped"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aStopFromTheExitOfANestedRunIsThatRunsOwn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            addFarTimer(to: loop)
            addFarTimer(to: loop, in: inner)
            stopAtFirst(.exit, of: loop, in: inner, log)
            loop.perform { log.note("inner \(loop.run(mode: inner, for: .zero))") }
            log.note("outer \(loop.run(mode: .default, for: .milliseconds(2)))")
            #expect(log.entries == ["stop", "inner stopped", "outer timedOut"])
        }
    }
}

@Sendable private func stop(_ loop: UVRunLoop, _ log: EventLog) {
    log.note("stop")
    loop.stop()
}

private func stopAtFirst(
    _ moment: UVRunLoop.Activities,
    of loop: UVRunLoop,
    in mode: UVRunLoop.Mode = .default,
    _ log: EventLog
) {
    let observer = UVRunLoop.Observer(activities: moment, repeats: false, order: 1) { _, _ in
        stop(loop, log)
    }
    loop.add(observer, forMode: mode)
}
