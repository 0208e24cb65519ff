import Testing
import UVRunLoop

/// The items that keep a mode alive, those that do not, and when its emptiness is noticed.
@Suite(.timeLimit(.minutes(15))) struct EmptinessTests {
    // MARK: Runs that do not begin

    @Test(arguments: DriverKind.allCases)
    func anEmptyModeFinishesWithoutANotification(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            loop.run()
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aModeThatWasNeverUsedFinishes(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let unused = UVRunLoop.Mode(rawValue: "never used")
            #expect(loop.run(mode: unused, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func theCommonModeCannotBeRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop, in: .common)
            loop.add(UVRunLoop.Source { _ in }, forMode: .common)
            loop.perform(inModes: [.common]) { log.note("block") }
            #expect(loop.run(mode: .common, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    // MARK: Items that keep a mode alive

    @Test(arguments: DriverKind.allCases)
    func observersNeverCount(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for activity: UVRunLoop.Activities in [.entry, .beforeTimers, .all] {
                log.observe(loop, activity)
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCustomSourceCounts(kind: DriverKind) {
        withLoop(kind) { loop, _ in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortBasedSourceCounts(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let pipe = Pipe()
            loop.add(try quietPort(on: pipe), forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
        }
    }

    @Test(arguments: DriverKind.allCases, [Duration.seconds(3600), .seconds(Int64.max)])
    func aFarTimerCounts(kind: DriverKind, delay: Duration) {
        withLoop(kind) { loop, _ in
            loop.add(UVRunLoop.Timer(after: delay) { _ in }, forMode: .default)
            #expect(loop.run(mode: .default, for: .milliseconds(2)) == .timedOut)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aOneShotTimerCountsWhileItsHandlerRuns(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let timer = UVRunLoop.Timer(after: .zero) { _ in
                log.note("nested \(loop.run(mode: .default, for: .milliseconds(2)))")
            }
            loop.add(timer, forMode: .default)
            log.note("outer \(loop.run(mode: .default, for: nil))")
            #expect(log.entries == ["nested timedOut", "outer finished"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aQueuedBlockCountsUntilItRan(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            loop.perform { log.note("block") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "block",
                    "beforeWaiting", "afterWaiting", "exit",
                ]
            )
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries.count == 7)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockQueuedByTheLastBlockKeepsTheModeAlive(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            loop.perform {
                log.note("first")
                loop.perform {
                    log.note("second")
                    loop.perform { log.note("third") }
                }
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "first",
                    "beforeWaiting", "afterWaiting", "second",
                    "beforeTimers", "beforeSources", "third",
                    "beforeWaiting", "afterWaiting", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerAddedByTheLastTimerKeepsTheModeAlive(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = UVRunLoop.Timer(after: .milliseconds(1)) { _ in
                log.note("first")
                let second = UVRunLoop.Timer(after: .milliseconds(1)) { _ in log.note("second") }
                loop.add(second, forMode: .default)
            }
            loop.add(first, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func itemsAndBlocksOfAnotherModeDoNotCount(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let other = UVRunLoop.Mode(rawValue: "other")
            let pipe = Pipe()
            log.observe(loop)
            loop.add(UVRunLoop.Source { _ in }, forMode: other)
            loop.add(UVRunLoop.Timer(after: .seconds(3600)) { _ in }, forMode: other)
            loop.add(try quietPort(on: pipe), forMode: other)
            loop.perform(inModes: [other]) { log.note("block") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func invalidItemsDoNotCount(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = UVRunLoop.Source { _ in log.note("source") }
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            let port = try quietPort(on: pipe)
            loop.add(source, forMode: .default)
            loop.add(timer, forMode: .default)
            loop.add(port, forMode: .default)
            log.observe(loop)
            source.signal()
            source.invalidate()
            timer.invalidate()
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            log.clear()
            port.invalidate()
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func removedItemsDoNotCount(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = UVRunLoop.Source { _ in log.note("source") }
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            let port = try quietPort(on: pipe)
            loop.add(source, forMode: .default)
            loop.add(timer, forMode: .default)
            loop.add(port, forMode: .default)
            log.observe(loop)
            source.signal()
            loop.remove(source, forMode: .default)
            loop.remove(timer, forMode: .default)
            loop.remove(port, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == [])
        }
    }

    // MARK: A mode that becomes empty while it runs

    @Test(
        arguments: DriverKind.allCases,
        [UVRunLoop.Activities.beforeTimers, .beforeSources, .beforeWaiting, .afterWaiting]
    )
    func aModeEmptiedByAnObserverFinishesAfterThePass(
        kind: DriverKind,
        moment: UVRunLoop.Activities
    ) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: .default)
            log.observe(loop)
            let observer = UVRunLoop.Observer(activities: moment) { _, _ in
                loop.remove(source, forMode: .default)
            }
            loop.add(observer, forMode: .default)
            let start = loop.now
            if moment == .afterWaiting { loop.wakeUpDuringItsSleep() }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "beforeWaiting", "afterWaiting", "exit",
                ]
            )
            if kind == .manual, moment != .afterWaiting { #expect(loop.now == start) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aModeEmptiedByItsSourceFinishesAfterThePass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            log.observe(loop)
            let source = UVRunLoop.Source { source in
                log.note("source")
                loop.remove(source, forMode: .default)
            }
            loop.add(source, forMode: .default)
            source.signal()
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "source", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopFinishesWhenAnotherThreadRemovesTheLastTimer(kind: DriverKind) {
        expectTheSleepToEnd(kind) { loop in
            let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in }
            loop.add(timer, forMode: .default)
            return { loop.remove(timer, forMode: .default) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopFinishesWhenAnotherThreadInvalidatesTheLastTimer(kind: DriverKind) {
        expectTheSleepToEnd(kind) { loop in
            let timer = UVRunLoop.Timer(after: .seconds(3600)) { _ in }
            loop.add(timer, forMode: .default)
            return { timer.invalidate() }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopFinishesWhenAnotherThreadRemovesTheLastSource(kind: DriverKind) {
        expectTheSleepToEnd(kind) { loop in
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: .default)
            return { loop.remove(source, forMode: .default) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopFinishesWhenAnotherThreadInvalidatesTheLastSource(kind: DriverKind) {
        expectTheSleepToEnd(kind) { loop in
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: .default)
            return { source.invalidate() }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopFinishesWhenAnotherThreadRemovesTheLastPort(kind: DriverKind) throws {
        let pipe = Pipe()
        try expectTheSleepToEnd(kind) { loop in
            let port = try quietPort(on: pipe)
            loop.add(port, forMode: .default)
            return { loop.remove(port, forMode: .default) }
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSleepingLoopFinishesWhenAnotherThreadInvalidatesTheLastPort(kind: DriverKind) throws {
        let pipe = Pipe()
        try expectTheSleepToEnd(kind) { loop in
            let port = try quietPort(on: pipe)
            loop.add(port, forMode: .default)
            return { port.invalidate() }
        }
    }
}

/// Runs without a limit while another thread takes the last item away, as `prepare` says.
private func expectTheSleepToEnd(
    _ kind: DriverKind,
    prepare: (UVRunLoop) throws -> @Sendable () -> Void
) rethrows {
    try withLoop(kind) { loop, log in
        let takeAway = try prepare(loop)
        log.observe(loop)
        let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
            elsewhere(after: .milliseconds(5), loop, takeAway)
        }
        loop.add(observer, forMode: .default)
        #expect(loop.run(mode: .default, for: nil) == .finished)
        #expect(
            log.entries == [
                "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting", "exit",
            ]
        )
    }
}

private func quietPort(on pipe: Pipe) throws -> UVRunLoop.DescriptorSource {
    // The handler keeps the pipe open for as long as the source may be watched.
    try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in _ = pipe.read() }
}

extension UVRunLoop {
    /// Wakes the loop up from another thread once it sleeps.
    fileprivate func wakeUpDuringItsSleep() {
        let observer = Observer(activities: .beforeWaiting, repeats: false) { _, _ in
            elsewhere(after: .milliseconds(5), self) { self.wakeUp() }
        }
        add(observer, forMode: .default)
    }
}
