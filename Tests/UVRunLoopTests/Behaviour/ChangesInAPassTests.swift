import Testing
import UVRunLoop

/// What a handler or an observer changes counts from the next step of the same pass on.
@Suite(.timeLimit(.minutes(15))) struct ChangesInAPassTests {
    private let mode = UVRunLoop.Mode("changes in a pass")

    @Test(arguments: DriverKind.allCases)
    func aReadyPortThatABlockAddsIsServedWithoutAnAnnouncedSleep(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            log.observe(loop)
            let pipe = Pipe()
            let port = try hotPort(pipe, log, as: "port")
            loop.performLocally {
                log.note("block")
                loop.add(port, forMode: .default)
            }
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "block", "port", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDueTimerThatAnObserverAddsAtTheEndOfTheSleepFiresInThatPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            loop.add(
                UVRunLoop.Observer(activities: .afterWaiting) { _, _ in
                    addTimer(to: loop, after: .zero) { log.note("timer") }
                },
                forMode: .default
            )
            #expect(loop.run(mode: .default, for: .milliseconds(5)) == .timedOut)
            #expect(log.entries == ["entry"] + sleepingPass + ["timer", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksForTheCommonModesRunInAModeThatHasJustBecomeCommon(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSource(to: loop, log)
            loop.perform(inModes: [.common]) { log.note("block") }
            loop.add(
                UVRunLoop.Observer(activities: .beforeSources) { _, _ in loop.addCommonMode(mode) },
                forMode: mode
            )
            loop.run(mode: mode, for: .zero)
            #expect(log.entries == ["block", "source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func jobsArePerformedInAModeThatABlockHasMadeCommon(kind: DriverKind) {
        withLoop(kind) { loop, log in
            addSource(to: loop, log)
            Task(executorPreference: loop.taskExecutor) { log.note("job") }
            loop.perform(inModes: [mode]) { [mode] in
                log.note("block")
                loop.addCommonMode(mode)
            }
            loop.run(mode: mode, for: .zero)
            #expect(log.entries == ["block", "job", "source"])
        }
    }

    private func addSource(to loop: UVRunLoop, _ log: EventLog) {
        let source = UVRunLoop.Source { _ in log.note("source") }
        loop.add(source, forMode: mode)
        source.signal()
    }
}
