import Testing
import UVRunLoop

/// Why a run returned, and what its limit means.
@Suite(.timeLimit(.minutes(15))) struct ResultTests {
    @Test func resultsHaveTheRawValuesOfCoreFoundation() {
        #expect(UVRunLoop.RunResult.finished.rawValue == 1)
        #expect(UVRunLoop.RunResult.stopped.rawValue == 2)
        #expect(UVRunLoop.RunResult.timedOut.rawValue == 3)
        #expect(UVRunLoop.RunResult.handledSource.rawValue == 4)
    }

    // MARK: The first match wins

    @Test(arguments: DriverKind.allCases)
    func stoppedWinsOverHandledSource(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            addSignalledSource(to: loop) { loop.stop() }
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .stopped)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func stoppedWinsOverTimedOut(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            addSignalledSource(to: loop) { loop.stop() }
            #expect(loop.run(mode: .default, for: .zero) == .stopped)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func stoppedWinsOverFinished(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            loop.add(UVRunLoop.Timer(after: .zero) { _ in loop.stop() }, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func handledSourceWinsOverTimedOut(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSignalledSource(to: loop) { log.note("source") }
            let result = loop.run(mode: .default, for: .zero, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func handledSourceWinsOverFinished(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let source = UVRunLoop.Source { source in source.invalidate() }
            loop.add(source, forMode: .default)
            source.signal()
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timedOutWinsOverFinished(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(log.entries == ["timer"])
            #expect(loop.run(mode: .default, for: .zero) == .finished)
        }
    }

    // MARK: Items that count as sources

    @Test(arguments: DriverKind.allCases)
    func aPortIsASource(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let pipe = Pipe()
            let port = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                _ = pipe.read()
            }
            loop.add(port, forMode: .default)
            pipe.write("x")
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceEndsOnlyARunThatWasAskedToReturnAfterOne(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSignalledSource(to: loop) { log.note("source") }
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in loop.stop() }
            loop.add(timer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func timersAreNoSources(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let interval = Duration.milliseconds(1)
            let timer = UVRunLoop.Timer(at: loop.now + interval, interval: interval) { timer in
                log.note("timer")
                if log.entries.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .finished)
            #expect(log.entries == ["timer", "timer", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksObserversAndWakeUpsAreNoSources(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in log.note("source") }, forMode: .default)
            log.observe(loop, .beforeTimers)
            loop.perform {
                log.note("block")
                loop.wakeUp()
            }
            var waits = 0
            let observer = UVRunLoop.Observer(activities: .beforeWaiting) { _, _ in
                waits += 1
                if waits == 2 { loop.stop() }
            }
            loop.add(observer, forMode: .default)
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .stopped)
            #expect(log.entries == ["beforeTimers", "block", "beforeTimers"])
        }
    }

    // MARK: Limits

    @Test(arguments: DriverKind.allCases, [1, 300_000, 1_500_000, 5_000_000])
    func aLimitIsNeverEarly(kind: DriverKind, nanoseconds: Int) {
        withLoop(kind) { loop, _ in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let limit = Duration.nanoseconds(nanoseconds)
            let start = loop.now
            #expect(loop.run(mode: .default, for: limit) == .timedOut)
            #expect(start.duration(to: loop.now) >= limit)
            let date = loop.now + limit
            #expect(loop.run(mode: .default, until: date) == .timedOut)
            #expect(loop.now >= date)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aLimitEndsARunInAModeOfOnesOwn(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            let mode = UVRunLoop.Mode(rawValue: "limited")
            loop.add(UVRunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: mode)
            loop.add(
                UVRunLoop.Timer(after: .zero) { _ in Issue.record("Another mode is served.") },
                forMode: .default
            )
            let start = loop.now
            // A run that ignored its limit would go on for an hour.
            let result = withHangGuard(seconds: 60) {
                loop.run(mode: mode, for: .milliseconds(2))
            }
            #expect(result == .timedOut)
            #expect(start.duration(to: loop.now) >= .milliseconds(2))
            if kind == .manual { #expect(loop.now == start + .milliseconds(2)) }
        }
    }

    @Test(arguments: DriverKind.allCases, pastLimits)
    func aLimitInThePastMeansExactlyOnePass(kind: DriverKind, limit: Duration) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            #expect(loop.run(mode: .default, for: limit) == .timedOut)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "exit"])
            log.clear()
            #expect(loop.run(mode: .default, until: loop.now + limit) == .timedOut)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases, farLimits)
    func aLimitTooFarToReachIsNoLimit(kind: DriverKind, limit: Duration) {
        withLoop(kind) { loop, log in
            let start = loop.now
            loop.add(
                UVRunLoop.Timer(after: .milliseconds(2)) { _ in log.note("timer") },
                forMode: .default
            )
            #expect(loop.run(mode: .default, for: limit) == .finished)
            loop.add(
                UVRunLoop.Timer(after: .milliseconds(2)) { _ in log.note("timer") },
                forMode: .default
            )
            #expect(loop.run(mode: .default, until: loop.now + limit) == .finished)
            #expect(log.entries == ["timer", "timer"])
            #expect(start.duration(to: loop.now) >= .milliseconds(4))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunWithoutALimitEndsWhenItsModeIsEmpty(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for delay in 1...3 {
                let timer = UVRunLoop.Timer(after: .milliseconds(delay)) { _ in
                    log.note("timer \(delay)")
                }
                loop.add(timer, forMode: .default)
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["timer 1", "timer 2", "timer 3"])
            #expect(loop.run(mode: .default, until: nil) == .finished)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theUnconditionalRunEndsWhenTheDefaultModeIsEmpty(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop, [.entry, .exit])
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in
                log.note("timer in \(loop.currentMode == .default ? "default" : "another") mode")
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(log.entries == ["entry", "timer in default mode", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theUnconditionalRunEndsWhenItIsStopped(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop, [.entry, .exit])
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in loop.stop() }
            loop.add(timer, forMode: .default)
            loop.run()
            log.note("returned")
            #expect(log.entries == ["entry", "exit", "returned"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theUnconditionalRunGoesOnAfterASource(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSignalledSource(to: loop) { log.note("source") }
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in
                log.note("timer")
                loop.stop()
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(log.entries == ["source", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func everyCallReturnsAnewAfterASourceWasHandled(kind: DriverKind) {
        withLoop(kind) { loop, log in
            var handled = 0
            let source = UVRunLoop.Source { source in
                handled += 1
                log.note("source \(handled)")
                if handled < 3 { source.signal() } else { loop.stop() }
            }
            loop.add(source, forMode: .default)
            source.signal()
            var results: [UVRunLoop.RunResult] = []
            repeat {
                let result = loop.run(
                    mode: .default,
                    for: .seconds(60),
                    returnAfterSourceHandled: true
                )
                results.append(result)
            } while results.last == .handledSource
            #expect(log.entries == ["source 1", "source 2", "source 3"])
            #expect(results == [.handledSource, .handledSource, .stopped])
        }
    }
}

private let pastLimits: [Duration] = [
    .zero, .nanoseconds(-1), .seconds(-1), .seconds(Int64.min + 1), .seconds(Int64.max) * -18,
]

// The last is close to the longest duration there is.
private let farLimits: [Duration] = [
    .seconds(1_000_000_000), .seconds(Int64.max / 1_000_000_000), .seconds(Int64.max),
    .seconds(Int64.max) * 18,
]
