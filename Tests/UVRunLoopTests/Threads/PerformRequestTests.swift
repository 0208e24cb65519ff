import Testing
import UVRunLoop

/// Requests to perform: in which pass, in which order, in which mode, and what they are to a run.
@Suite(.timeLimit(.minutes(15))) struct PerformRequestTests {
    // MARK: Passes and order

    @Test(arguments: DriverKind.allCases)
    func allThatWaitRunInOnePassInOrderAndOneMadeMeanwhileInTheNext(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for number in 1...10 { loop.requestPerform { log.note("\(number)") } }
            loop.requestPerform {
                log.note("11")
                loop.requestPerform { log.note("12") }
            }
            log.observe(loop, .beforeSources)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            let first = ["beforeSources"] + (1...11).map { "\($0)" }
            #expect(log.entries == first + ["beforeSources", "12"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func requestsWaitForTheCustomSourcesOfAPassAndForTheirTurnAmongThem(kind: DriverKind) {
        withLoop(kind) { loop, log in
            for order in [1, -1] {
                let source = UVRunLoop.Source(order: order) { _ in log.note("source \(order)") }
                loop.add(source, forMode: .default)
                source.signal()
            }
            loop.requestPerform { log.note("request") }
            loop.perform { log.note("block") }
            log.observe(loop)
            #expect(loop.run(mode: .default, for: .zero) == .timedOut)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources",
                    "block", "source -1", "request", "source 1", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func requestsAreInOneOrderAcrossModes(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode("X")
            loop.addCommonMode(mode)
            let modes: [[UVRunLoop.Mode]] = [
                [.common], [.default], [mode], [.common], [.default, mode], [.default, .common],
            ]
            for (number, modes) in modes.enumerated() {
                loop.requestPerform(inModes: modes) { log.note("\(number)") }
            }
            log.observe(loop, .beforeSources, in: mode)
            #expect(loop.run(mode: mode, for: .seconds(60)) == .finished)
            #expect(log.entries == ["beforeSources", "0", "2", "3", "4", "5"])
            log.clear()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["1"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestForSeveralModesRunsOnceInWhicheverRunsFirst(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let (a, b) = (UVRunLoop.Mode("A"), UVRunLoop.Mode("B"))
            loop.requestPerform(inModes: [a, b, a]) { log.note(loop.currentMode?.rawValue ?? "") }
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            #expect(loop.run(mode: b, for: .seconds(60)) == .finished)
            #expect(loop.run(mode: a, for: .seconds(60)) == .finished)
            #expect(log.entries == ["B"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aCommonRequestLeavesNoModeThatAnotherOneNames(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let (mode, other) = (UVRunLoop.Mode("X"), UVRunLoop.Mode("Y"))
            loop.addCommonMode(mode)
            loop.requestPerform(inModes: [.common]) { log.note("common") }.cancel()
            loop.requestPerform(inModes: [mode]) { log.note("named") }
            loop.requestPerform(inModes: [.common]) { log.note("common") }.cancel()
            loop.requestPerform(inModes: [mode]) { log.note("named too") }.cancel()
            #expect(loop.run(mode: .default, for: .zero) == .finished)
            loop.requestPerform(inModes: [.common]) { log.note("common") }
            loop.requestPerform(inModes: [other]) { log.note("other") }
            #expect(loop.run(mode: mode, for: .seconds(60)) == .finished)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(loop.run(mode: other, for: .seconds(60)) == .finished)
            #expect(log.entries == ["named", "common", "other"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aModeThatBecomesCommonGetsTheRequestsThatWait(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode("X")
            loop.requestPerform { log.note(loop.currentMode?.rawValue ?? "") }
            #expect(loop.run(mode: mode, for: .zero) == .finished)
            loop.addCommonMode(mode)
            #expect(loop.run(mode: mode, for: .seconds(60)) == .finished)
            #expect(log.entries == ["X"])
        }
    }

    // MARK: A source of the loop

    @Test(arguments: DriverKind.allCases)
    func aRequestEndsARunThatReturnsAfterASourceAndABlockDoesNot(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.perform { log.note("block") }
            let limit = Duration.milliseconds(2)
            let afterBlock = loop.run(
                mode: .default,
                for: limit,
                returnAfterSourceHandled: true
            )
            #expect(afterBlock == .timedOut)
            loop.requestPerform { log.note("request") }
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(log.entries == ["block", "request"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aWaitingRequestKeepsItsModeFromBeingEmptyAndNoLonger(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode("X")
            loop.requestPerform(inModes: [mode]) { log.note("done") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(loop.modes.contains(mode))
            #expect(log.entries == [])
            #expect(loop.run(mode: mode, for: nil) == .finished)
            #expect(loop.run(mode: mode, for: nil) == .finished)
            #expect(log.entries == ["done"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPassThatPerformsRequestsDoesNotWait(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            loop.requestPerform {
                log.note("request")
                loop.stop()
            }
            log.observe(loop)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            let story = ["entry", "beforeTimers", "beforeSources", "request", "exit"]
            #expect(log.entries == story)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestFromABeforeWaitingObserverIsNotSleptOn(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                loop.requestPerform {
                    log.note("request")
                    loop.stop()
                }
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .stopped)
            #expect(log.entries == ["request"])
        }
    }

    // MARK: Other threads

    @Test(arguments: DriverKind.allCases)
    func aRequestFromAnotherThreadWakesTheLoop(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            elsewhere(after: .milliseconds(5), loop) {
                loop.requestPerform { log.note("request") }
            }
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting",
                    "beforeTimers", "beforeSources", "request", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRequestForAnotherModeMakesNoPass(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            log.observe(loop)
            elsewhere(after: .milliseconds(2), loop) {
                loop.requestPerform(inModes: [UVRunLoop.Mode("X")]) { log.note("request") }
            }
            #expect(loop.run(mode: .default, for: .milliseconds(30)) == .timedOut)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "beforeWaiting", "afterWaiting",
                    "exit",
                ]
            )
        }
    }

    @Test func aRequestMadeBeforeTheLoopFirstRunsWaitsForIt() {
        let (log, ready, made) = (EventLog(), Signal(), Signal())
        let handover = SharedBox<UVRunLoop?>(nil)
        let thread = startThread {
            handover.value = UVRunLoop.current
            ready.send()
            made.wait()
            log.note("\(UVRunLoop.current.run(mode: .default, for: nil))")
        }
        ready.wait()
        handover.value?.requestPerform { log.note(thread.isCurrent ? "there" : "elsewhere") }
        made.send()
        thread.join()
        #expect(log.entries == ["there", "finished"])
    }

    @Test func requestsFromManyThreadsAllRunAndEachThreadsInOrder() throws {
        let log = EventLog()
        let worker = try UVRunLoop.Thread()
        let threads = (0..<4).map { thread in
            startThread {
                for number in 0..<500 {
                    worker.runLoop.requestPerform { log.note("\(thread) \(number)") }
                }
            }
        }
        for thread in threads { thread.join() }
        worker.stop()
        worker.join()
        #expect(log.entries.count == 2000)
        for thread in 0..<4 {
            let own = log.entries.filter { $0.hasPrefix("\(thread) ") }
            #expect(own == (0..<500).map { "\(thread) \($0)" })
        }
    }

    // MARK: Nested runs

    @Test(arguments: DriverKind.allCases)
    func aRunNestedInARequestPerformsTheOnesBehindItInOrder(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.requestPerform {
                log.note("1")
                loop.requestPerform { log.note("4") }
                log.note("\(loop.run(mode: .default, for: nil))")
            }
            loop.requestPerform { log.note("2") }
            loop.requestPerform { log.note("3") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["1", "2", "3", "4", "finished"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunNestedInTheOnlyRequestFindsItsModeEmpty(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.requestPerform { log.note("\(loop.run(mode: .default, for: nil))") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["finished"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aNestedRunInAnotherModeLeavesTheRequestsOfTheOuterOneAlone(kind: DriverKind) {
        withLoop(kind) { loop, log in
            let mode = UVRunLoop.Mode("X")
            loop.requestPerform(inModes: [.default]) {
                log.note("1")
                loop.requestPerform(inModes: [mode]) { log.note("inner") }
                log.note("\(loop.run(mode: mode, for: nil))")
            }
            loop.requestPerform(inModes: [.default]) { log.note("2") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["1", "inner", "finished", "2"])
        }
    }

    // MARK: Kept blocks and targets

    @Test(arguments: DriverKind.allCases)
    func theBlockAndTheTargetAreKeptUntilItRanAndLetGoThen(kind: DriverKind) {
        withLoop(kind) { loop, log in
            loop.requestPerform(target: Witness("target", log)) {
                [witness = Witness("block", log)] in
                witness.note("runs")
            }
            loop.requestPerform { log.note("next") }
            log.note("waits")
            loop.run(mode: .default, for: .zero)
            #expect(log.entries.first == "waits")
            #expect(log.entries.dropFirst().first == "block runs")
            #expect(log.entries.last == "next")
            #expect(
                Set(log.entries) == ["waits", "block runs", "block gone", "target gone", "next"]
            )
        }
    }

    @Test func aThreadThatEndsDropsItsRequestsAndRefusesOthers() {
        let log = EventLog()
        let handover = SharedBox<UVRunLoop?>(nil)
        let thread = startThread {
            let loop = UVRunLoop.current
            handover.value = loop
            loop.requestPerform(target: Witness("target", log)) {
                [witness = Witness("block", log)] in witness.note("runs")
            }
            loop.requestPerform(after: .seconds(60)) { [witness = Witness("delayed", log)] in
                witness.note("runs")
            }
        }
        thread.join()
        #expect(Set(log.entries) == ["target gone", "block gone", "delayed gone"])
        log.clear()
        let late = handover.value?.requestPerform { [witness = Witness("late", log)] in
            witness.note("runs")
        }
        #expect(late?.isPending == false)
        #expect(late?.cancel() == false)
        let later = handover.value?.requestPerform(after: .zero) { log.note("later") }
        #expect(later?.isPending == false)
        #expect(log.entries == ["late gone"])
    }

    @Test func aRequestForNoModeTraps() async {
        await #expect(processExitsWith: .failure) { requestInNoMode() }
    }
}

private func requestInNoMode() {
    UVRunLoop.current.requestPerform(inModes: []) {}
}
