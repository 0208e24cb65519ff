import Testing
import UVRunLoop

/// The work that a nested run leaves alone, may take, and gives back.
@Suite(.timeLimit(.minutes(15))) struct NestedWorkTests {
    @Test(arguments: DriverKind.allCases)
    func aTimerWhoseHandlerIsOnTheStackDoesNotFireInANestedRunButOthersDo(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let outer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
                log.note("outer")
                let other = UVRunLoop.Timer(after: .milliseconds(4)) { _ in
                    log.note("other")
                    loop.stop()
                }
                loop.add(other, forMode: .default)
                log.note("\(loop.run(mode: .default, for: .seconds(60)))")
                timer.invalidate()
            }
            loop.add(outer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["outer", "other", "stopped"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerOnTheStackDoesNotFireInANestedRunOfAnotherModeEither(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            let timer = UVRunLoop.Timer(after: .zero, interval: .milliseconds(1)) { timer in
                log.note("fired")
                log.note("\(loop.run(mode: inner, for: .milliseconds(5)))")
                timer.invalidate()
            }
            loop.add(timer, forMode: .default)
            loop.add(timer, forMode: inner)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["fired", "timedOut"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortWhoseHandlerIsOnTheStackIsNotServedByANestedRunButOthersAre(
        kind: DriverKind
    ) throws {
        try withLoop(kind) { loop, log in
            let outer = Pipe()
            let other = Pipe()
            let source = try UVRunLoop.DescriptorSource(outer.readEnd, events: .readable) {
                source,
                _ in
                log.note("outer")
                other.write("x")
                log.note("\(loop.run(mode: .default, for: .milliseconds(5)))")
                if log.entries.count > 3 { source.invalidate() }
                withExtendedLifetime(outer) {}
            }
            loop.add(source, forMode: .default)
            outer.write("x")
            let otherSource = try UVRunLoop.DescriptorSource(other.readEnd, events: .readable) {
                _,
                _ in log.note("other \(other.read() ?? "nothing")")
            }
            loop.add(otherSource, forMode: .default)

            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["outer", "other x", "timedOut"])
            // The bytes that were left unread are served again, now that the handler has returned.
            loop.run(mode: .default, for: .zero)
            let twice = ["outer", "other x", "timedOut", "outer", "other x", "timedOut"]
            #expect(log.entries == twice)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceMayBePerformedAgainByANestedRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let source = UVRunLoop.Source { source in
                log.note("perform \(loop.nestingLevel)")
                guard loop.nestingLevel < 3 else { return }
                source.signal()
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
                log.note("end \(loop.nestingLevel)")
            }
            loop.add(source, forMode: .default)
            source.signal()
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["perform 1", "perform 2", "perform 3", "end 2", "end 1"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverOnTheStackIsNotCalledByANestedRunButOthersAre(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let nested = Box(false)
            let observer = UVRunLoop.Observer(activities: .all, order: 1) { _, activity in
                log.note("observer \(loop.nestingLevel)")
                guard activity == .beforeSources, !nested.value else { return }
                nested.value = true
                loop.run(mode: .default, for: .zero)
            }
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.add(observer, forMode: .default)
            log.observe(loop)
            loop.run(mode: .default, for: .zero)
            let story = [
                "entry", "observer 1", "beforeTimers", "observer 1", "beforeSources", "observer 1",
                "entry", "beforeTimers", "beforeSources", "exit",
                "exit", "observer 1",
            ]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aTimerOfTheBatchThatANestedRunFiredIsNotFiredTwice(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = UVRunLoop.Timer(after: .zero) { _ in
                log.note("first")
                loop.run(mode: .default, for: .zero)
                log.note("first end")
            }
            loop.add(first, forMode: .default)
            loop.add(UVRunLoop.Timer(after: .zero) { _ in log.note("second") }, forMode: .default)
            letTimePass(.milliseconds(1), loop)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["first", "second", "first end"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSourceOfThePassThatANestedRunPerformedIsNotPerformedTwice(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let first = UVRunLoop.Source(order: 1) { _ in
                log.note("first")
                loop.run(mode: .default, for: .zero)
                log.note("first end")
            }
            let second = UVRunLoop.Source(order: 2) { _ in log.note("second") }
            for source in [first, second] {
                loop.add(source, forMode: .default)
                source.signal()
            }
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["first", "second", "first end"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksOfABatchRunOnceEachThoughOneOfThemRunsTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.performLocally {
                log.note("first")
                loop.run(mode: .default, for: .zero)
            }
            loop.performLocally { log.note("second") }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["first", "second"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aNestedRunInsideABlockPerformsTheBlocksOfItsMode(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.performLocally {
                log.note("block")
                log.note("\(loop.run(mode: inner, for: .seconds(60)))")
            }
            loop.performLocally(inModes: [inner]) { log.note("inner block") }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["block", "inner block", "finished"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aWakeUpAskedForBeforeANestedRunStillEndsTheOuterSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: inner)
            stopInTheSecondPass(loop)
            let observer = UVRunLoop.Observer(activities: .beforeSources, repeats: false) { _, _ in
                loop.wakeUp()
                log.note("\(loop.run(mode: inner, for: .milliseconds(3)))")
            }
            loop.add(observer, forMode: .default)
            // The stop comes in the second pass, which only the wake-up can bring.
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["timedOut"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aWakeUpThatANestedRunConsumedStillEndsTheOuterSleep(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.add(UVRunLoop.Source { _ in }, forMode: inner)
            stopInTheSecondPass(loop)
            let observer = UVRunLoop.Observer(activities: .beforeSources, repeats: false) { _, _ in
                elsewhere(after: .milliseconds(3), loop) { loop.wakeUp() }
                log.note("\(loop.run(mode: inner, for: .milliseconds(250)))")
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["timedOut"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aSignalAnnouncedToANestedRunOfAnotherModeReachesTheOuterRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: inner)
            let source = UVRunLoop.Source { _ in log.note("source") }
            loop.add(source, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                elsewhere(after: .milliseconds(3), loop) {
                    source.signal()
                    loop.wakeUp()
                }
                log.note("\(loop.run(mode: inner, for: .milliseconds(30)))")
            }
            loop.add(observer, forMode: .default)
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["timedOut", "source"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBlockFromAnotherThreadDuringANestedRunOfAnotherModeReachesTheOuterRun(
        kind: DriverKind
    ) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: inner)
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                elsewhere(after: .milliseconds(3), loop) {
                    loop.perform {
                        log.note("block")
                        UVRunLoop.current.stop()
                    }
                }
                log.note("\(loop.run(mode: inner, for: .milliseconds(30)))")
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["timedOut", "block"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aDateThatPassesDuringANestedRunOfAnotherModeFiresInTheOuterRun(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            loop.add(UVRunLoop.Source { _ in }, forMode: inner)
            let timer = UVRunLoop.Timer(after: .milliseconds(2)) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                log.note("\(loop.run(mode: inner, for: .milliseconds(6)))")
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["timedOut", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func dataThatArrivesDuringANestedRunOfAnotherModeReachesTheOuterRun(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let inner = UVRunLoop.Mode(rawValue: "inner")
            let pipe = Pipe()
            loop.add(UVRunLoop.Source { _ in }, forMode: inner)
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("read \(pipe.read() ?? "nothing")")
            }
            loop.add(source, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                elsewhere(after: .milliseconds(3), loop) { pipe.write("x") }
                log.note("\(loop.run(mode: inner, for: .milliseconds(30)))")
            }
            loop.add(observer, forMode: .default)
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["timedOut", "read x"])
        }
    }
}

/// Stops the run at the beginning of its second pass.
private func stopInTheSecondPass(_ loop: UVRunLoop) {
    let passes = Box(0)
    let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
        passes.value += 1
        if passes.value == 2 { loop.stop() }
    }
    loop.add(observer, forMode: .default)
}
