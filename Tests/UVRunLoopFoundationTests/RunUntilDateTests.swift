import FoundationEssentials
import TestSupport
import Testing
import UVRunLoopFoundation

/// Runs whose limits are dates.
@Suite(.timeLimit(.minutes(15))) struct RunUntilDateTests {
    @Test func runUntilADateEndsAtTheDate() {
        withLoop { loop in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let date = Date(timeIntervalSinceNow: 0.02)
            loop.run(until: date)
            #expect(Date() >= date)
        }
    }

    @Test func runUntilAPastDateMakesOnePassThatFiresWhatIsDue() {
        withLoop { loop in
            let log = EventLog()
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            UVRunLoop.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in
                log.note("fired")
            }
            letTimePass(.milliseconds(3))
            loop.run(until: .distantPast)
            #expect(log.entries == ["fired"])
        }
    }

    @Test func runUntilADateGoesOnAfterAStop() {
        withLoop { loop in
            let log = EventLog()
            let timer = UVRunLoop.Timer(timeInterval: 0.001, repeats: true) { timer in
                log.note("fired")
                loop.stop()
                if log.entries.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.run(until: Date(timeIntervalSinceNow: 60))
            #expect(log.entries == ["fired", "fired", "fired"])
        }
    }

    @Test func runUntilADateGoesOnAfterASource() {
        withLoop { loop in
            let log = EventLog()
            let source = UVRunLoop.Source { source in
                log.note("performed")
                if log.entries.count == 3 { source.invalidate() } else { source.signal() }
            }
            loop.add(source, forMode: .default)
            source.signal()
            loop.run(until: .distantFuture)
            #expect(log.entries == ["performed", "performed", "performed"])
        }
    }

    @Test func everyCallReturnsAtOnceWhenTheModeIsEmpty() {
        withLoop { loop in
            loop.add(
                UVRunLoop.Observer(activities: .all) { _, _ in
                    Issue.record("An empty mode has nothing to observe.")
                },
                forMode: .default
            )
            loop.run(until: .distantFuture)
            #expect(!loop.run(mode: .default, before: .distantFuture))
            #expect(!loop.run(mode: UVRunLoop.Mode("nobody's"), before: .distantFuture))
            #expect(!loop.run(mode: .common, before: .distantFuture))
            loop.acceptInput(forMode: .default, before: .distantFuture)
            #expect(loop.limitDate(forMode: .default) == nil)
        }
    }

    @Test func runInAModeReturnsTrueAfterASource() {
        withLoop { loop in
            let log = EventLog()
            let first = UVRunLoop.Source { _ in log.note("first") }
            let second = UVRunLoop.Source(order: 1) { _ in log.note("second") }
            for source in [second, first] {
                loop.add(source, forMode: .default)
                source.signal()
            }
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(log.entries == ["first"])
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test func runInAModeReturnsTrueAtItsLimitAndAfterAStop() {
        withLoop { loop in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let date = Date(timeIntervalSinceNow: 0.005)
            #expect(loop.run(mode: .default, before: date))
            #expect(Date() >= date)
            loop.perform { UVRunLoop.current.stop() }
            #expect(loop.run(mode: .default, before: .distantFuture))
        }
    }

    @Test func neitherTimersNorBlocksEndARunInAMode() {
        withLoop { loop in
            let log = EventLog()
            let timer = UVRunLoop.Timer(timeInterval: 0.001, repeats: true) { timer in
                log.note("fired")
                if log.entries.count == 4 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.perform { log.note("block") }
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(log.entries == ["block", "fired", "fired", "fired"])
        }
    }

    @Test func acceptInputTakesAModeAndAName() {
        withLoop { loop in
            let log = EventLog()
            let mode = UVRunLoop.Mode("input")
            loop.perform(inModes: [mode], block: { log.note("by mode") })
            loop.acceptInput(forMode: mode, before: .distantFuture)
            loop.perform(inModes: [mode], block: { log.note("by name") })
            loop.acceptInput(forMode: "input", before: .distantFuture)
            #expect(log.entries == ["by mode", "by name"])
        }
    }

    @Test func limitDateFiresWhatIsDueAndTellsTheNextDate() {
        withLoop { loop in
            let log = EventLog()
            UVRunLoop.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in
                log.note("fired")
            }
            let next = UVRunLoop.Timer.scheduledTimer(withTimeInterval: 600, repeats: false) { _ in
                log.note("early")
            }
            letTimePass(.milliseconds(3))
            let limit = loop.limitDate(forMode: .default)
            #expect(log.entries == ["fired"])
            #expect(abs((limit ?? .distantPast).timeIntervalSince(next.fireDate)) < 60)
        }
    }

    @Test func limitDateOfAModeWithoutTimersIsInTheDistantFuture() {
        withLoop { loop in
            let source = UVRunLoop.Source { _ in }
            loop.add(source, forMode: .default)
            #expect(loop.limitDate(forMode: .default) == .distantFuture)
            source.invalidate()
            let timer = UVRunLoop.Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
            loop.add(timer, forMode: .default)
            #expect(loop.limitDate(forMode: .default) == .distantFuture)
            timer.invalidate()
            #expect(loop.limitDate(forMode: .default) == nil)
        }
    }

    @Test func onAnotherThreadNothingRuns() {
        withLoop { loop in
            let log = EventLog()
            loop.perform { log.note("block") }
            onAnotherThread {
                loop.run(until: .distantFuture)
                log.note("\(loop.run(mode: .default, before: .distantFuture))")
                loop.acceptInput(forMode: .default, before: .distantFuture)
                log.note("\(String(describing: loop.limitDate(forMode: .default)))")
            }
            #expect(log.entries == ["false", "nil"])
        }
    }

    @Test func aRunWithoutLimitGoesOnForAsLongAsThereIsSomething() {
        withLoop { loop in
            let log = EventLog()
            let timer = UVRunLoop.Timer(timeInterval: 0.001, repeats: true) { timer in
                log.note("fired")
                if log.entries.count == 3 { timer.invalidate() }
            }
            loop.add(timer, forMode: .default)
            loop.run()
            #expect(log.entries.count == 3)
        }
    }

    @Test func aBlockForNoModeIsDropped() {
        withLoop { loop in
            loop.perform(inModes: [], block: { Issue.record("It is for no mode.") })
            #expect(loop.modes == [.default])
            #expect(!loop.run(mode: .default, before: .distantPast))
        }
    }

    @Test func aRunUntilADateEndsForGoodWhenItsThreadIsToldToStop() throws {
        let thread = try UVRunLoop.Thread()
        let log = EventLog()
        thread.runLoop.perform {
            UVRunLoop.current.run(until: .distantFuture)
            log.note("\(UVRunLoop.current.run(mode: .default, before: .distantFuture))")
        }
        awaitSleep(of: thread.runLoop)
        thread.stop()
        thread.join()
        #expect(log.entries == ["false"])
    }

    @Test func callsOfTheParentsLoopTrapInAForkedChild() async {
        await #expect(processExitsWith: .success) { useTheLoopInAChild() }
    }
}

private func useTheLoopInAChild() {
    let loop = UVRunLoop.current
    let target = SharedBox(0)
    let calls: [() -> Void] = [
        { loop.run(until: Date()) },
        { loop.run(mode: .default, before: Date()) },
        { loop.acceptInput(forMode: .default, before: Date()) },
        { _ = loop.limitDate(forMode: .default) },
        { loop.cancelPerformSelectors(withTarget: target) },
    ]
    for (index, call) in calls.enumerated() {
        precondition(trapsInChild(call), "Call \(index) did not trap.")
    }
}
