import Glibc
import Testing
import UVRunLoop

/// Changes by other threads to a loop that sleeps: those that end the sleep, and those that only
/// change what it waits for.
@Suite(.timeLimit(.minutes(15))) struct SleepTests {
    // MARK: Changes that end the sleep

    @Test(arguments: DriverKind.allCases)
    func aStopEndsTheSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            duringSleep(of: loop) { loop.stop() }
            let result = loop.run(mode: .default, for: nil)
            #expect(result == .stopped)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockEndsTheSleepAndRunsInTheSamePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            duringSleep(of: loop) {
                loop.perform {
                    log.note("block")
                    loop.stop()
                }
            }
            loop.run(mode: .default, for: nil)
            #expect(log.entries == ["entry"] + sleepingPass + ["block", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func addingACustomSourceEndsTheSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            let source = UVRunLoop.Source { _ in log.note("source") }
            duringSleep(of: loop) {
                source.signal()
                loop.add(source, forMode: .default)
            }
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(
                log.entries == ["entry"] + sleepingPass
                    + ["beforeTimers", "beforeSources", "source", "exit"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSignalAndAWakeUpEndTheSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            log.observe(loop)
            duringSleep(of: loop) {
                source.signal()
                loop.wakeUp()
            }
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(
                log.entries == ["entry"] + sleepingPass
                    + ["beforeTimers", "beforeSources", "source", "exit"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theLimitEndsTheSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            let limit = loop.now + .milliseconds(5)
            // A date might have passed when the run begins, and the run would not sleep.
            let result = loop.run(mode: .default, for: .milliseconds(5))
            #expect(result == .timedOut)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
            #expect(loop.now >= limit)
            if kind == .manual { #expect(loop.now == limit) }
        }
    }

    // MARK: Changes that do not end the sleep

    @Test(arguments: DriverKind.allCases)
    func aBareSignalDoesNotEndTheSleep(kind: DriverKind) {
        let found = Guarded<(entries: [String], isSignalled: Bool)>(([], false))
        // On a thread of its own: what another thread drops that belongs to an earlier test of
        // this thread has the loop check its contents, and it would find the signal.
        let thread = startThread {
            withLoop(kind) { loop, log in
                let source = UVRunLoop.Source { _ in log.note("source") }
                loop.add(source, forMode: .default)
                let timer = stoppingTimer(at: loop.now + .milliseconds(50), loop, log)
                loop.add(timer, forMode: .default)
                log.observe(loop)
                duringSleep(of: loop) {
                    // A signal ahead of the sleep would make it zero long.
                    var checks = 0
                    while !loop.isWaiting, checks < 1_000_000 {
                        checks += 1
                        sched_yield()
                    }
                    source.signal()
                }
                loop.run(mode: .default, for: .seconds(60))
                found.withLock { $0 = (log.entries, source.isSignalled) }
            }
        }
        thread.join()
        let (entries, isSignalled) = found.withLock { $0 }
        #expect(entries == ["entry"] + sleepingPass + ["timer", "exit"])
        if kind == .manual { #expect(isSignalled) }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerAddedByAnotherThreadIsWaitedForWithoutAnotherPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            log.observe(loop)
            let date = loop.now + .milliseconds(10)
            let timer = stoppingTimer(at: date, loop, log)
            duringSleep(of: loop) { loop.add(timer, forMode: .default) }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            #expect(loop.now >= date)
            if kind == .manual { #expect(loop.now == date) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerMovedForwardByAnotherThreadIsWaitedForWithoutAnotherPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let date = loop.now + .milliseconds(10)
            let timer = stoppingTimer(at: loop.now + .seconds(3600), loop, log)
            loop.add(timer, forMode: .default)
            duringSleep(of: loop) { timer.nextFireDate = date }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            #expect(loop.now >= date)
            if kind == .manual { #expect(loop.now == date) }
        }
    }

    // Virtual time only: a real clock may pass the first date before the other thread has moved it.
    @Test func aTimerPutOffByAnotherThreadIsWaitedForWithoutAnotherPass() {
        withLoop(.manual) { loop, log in
            log.observe(loop)
            let date = loop.now + .milliseconds(20)
            let timer = stoppingTimer(at: loop.now + .milliseconds(10), loop, log)
            loop.add(timer, forMode: .default)
            duringSleep(of: loop) { timer.nextFireDate = date }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            #expect(loop.now == date)
        }
    }

    // Virtual time only, for the same reason.
    @Test func theDateOfATimerRemovedByAnotherThreadEndsNoSleep() {
        withLoop(.manual) { loop, log in
            log.observe(loop)
            let removed = UVRunLoop.Timer(after: .milliseconds(10)) { _ in log.note("removed") }
            loop.add(removed, forMode: .default)
            let kept = stoppingTimer(at: loop.now + .milliseconds(20), loop, log)
            loop.add(kept, forMode: .default)
            duringSleep(of: loop) { loop.remove(removed, forMode: .default) }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
        }
    }

    // Its date has passed then, but the loop may sleep until its window ends. Virtual time only,
    // for the same reason.
    @Test func aTimerRemovedByAnotherThreadWithinItsWindowEndsNoSleep() {
        withLoop(.manual) { loop, log in
            log.observe(loop)
            let date = loop.now + .milliseconds(1)
            let removed = UVRunLoop.Timer(at: date, tolerance: .seconds(50)) { _ in
                log.note("removed")
            }
            loop.add(removed, forMode: .default)
            let kept = stoppingTimer(at: loop.now + .milliseconds(60), loop, log)
            duringSleep(of: loop) {
                removed.invalidate()
                loop.add(kept, forMode: .default)
            }
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
        }
    }

    @Test func aTimerPutOffAtItsVeryDateIsWaitedForWithoutAnotherPass() throws {
        try withLoop(.manual) { loop, log in
            log.observe(loop)
            let (date, later) = (loop.now + .milliseconds(10), loop.now + .milliseconds(20))
            let timer = stoppingTimer(at: date, loop, log)
            loop.add(timer, forMode: .default)
            try #require(virtualClock(of: loop)).at(date) { timer.nextFireDate = later }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            #expect(loop.now == later)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func removingATimerFromAnotherThreadSendsNothing(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let removed = UVRunLoop.Timer(after: .seconds(3600)) { _ in log.note("removed") }
            loop.add(removed, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let timer = stoppingTimer(at: loop.now + .milliseconds(10), loop, log)
            duringSleep(of: loop) {
                loop.remove(removed, forMode: .default)
                // It may be due, and end the run at once.
                loop.add(timer, forMode: .default)
            }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
            #expect(!loop.contains(removed, forMode: .default))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverAddedByAnotherThreadSendsNothingItself(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let observer = UVRunLoop.Observer(activities: .all, order: 1) { _, activity in
                log.note(activity == .afterWaiting ? "added afterWaiting" : "added, later")
            }
            let timer = stoppingTimer(at: loop.now + .milliseconds(10), loop, log)
            duringSleep(of: loop) {
                loop.add(observer, forMode: .default)
                loop.add(timer, forMode: .default)
            }
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(
                log.entries == ["entry"] + sleepingPass
                    + ["added afterWaiting", "timer", "exit", "added, later"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverRemovedByAnotherThreadSendsNothing(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let observer = UVRunLoop.Observer(activities: .afterWaiting) { _, _ in
                log.note("removed")
            }
            loop.add(observer, forMode: .default)
            let timer = stoppingTimer(at: loop.now + .milliseconds(10), loop, log)
            duringSleep(of: loop) {
                loop.remove(observer, forMode: .default)
                loop.add(timer, forMode: .default)
            }
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aQuietPortAddedAndRemovedByAnotherThreadSendsNothing(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = [Pipe(), Pipe()]
            let added = try reader(of: pipes[0], loop, log)
            let removed = try reader(of: pipes[1], loop, log)
            loop.add(removed, forMode: .default)
            log.observe(loop)
            let timer = stoppingTimer(at: loop.now + .milliseconds(10), loop, log)
            duringSleep(of: loop) {
                loop.add(added, forMode: .default)
                loop.remove(removed, forMode: .default)
                pipes[1].write("x")
                loop.add(timer, forMode: .default)
            }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aReadyPortAddedByAnotherThreadEndsTheSleepWithItsEvent(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            addFarTimer(to: loop)
            let pipe = Pipe()
            pipe.write("x")
            let port = try reader(of: pipe, loop, log)
            log.observe(loop)
            duringSleep(of: loop) { loop.add(port, forMode: .default) }
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["port", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDateOfAnotherModeEndsNoSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let other = UVRunLoop.Timer(after: .milliseconds(3)) { _ in log.note("other") }
            loop.add(other, forMode: UVRunLoop.Mode(rawValue: "other"))
            let timer = stoppingTimer(at: loop.now + .milliseconds(10), loop, log)
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
        }
    }
}

private func stoppingTimer(
    at date: UVRunLoop.Instant,
    _ loop: UVRunLoop,
    _ log: EventLog
) -> UVRunLoop.Timer {
    UVRunLoop.Timer(at: date) { _ in
        log.note("timer")
        loop.stop()
    }
}

private func reader(
    of pipe: Pipe,
    _ loop: UVRunLoop,
    _ log: EventLog
) throws -> UVRunLoop.DescriptorSource {
    try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        _ = pipe.read()
        log.note("port")
        loop.stop()
    }
}
