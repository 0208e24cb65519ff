import Testing
import UVRunLoop

/// Port-based sources in a pass: one event of one source, with or without a sleep before it.
@Suite(.timeLimit(.minutes(15))) struct PortStepTests {
    /// No poll is left out in a run's first pass, also where a due date keeps it from sleeping.
    @Test(arguments: DriverKind.allCases)
    func aPortThatAnObserverMakesReadyBeforeTheSleepComesBeforeADueTimer(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                _ in
                log.note("port")
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            let timer = UVRunLoop.Timer(after: .zero) { _ in log.note("timer") }
            loop.add(timer, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                pipe.write("x")
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["port", "timer"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func anObserverThatJoinsDuringTheSleepIsToldOfItsEndBeforeThePortIsServed(
        kind: DriverKind
    ) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) {
                source,
                _ in
                log.note("port")
                source.invalidate()
            }
            loop.add(source, forMode: .default)
            elsewhere(after: .milliseconds(5), loop) {
                let observer = UVRunLoop.Observer(
                    activities: .afterWaiting,
                    sendableHandler: { _, _ in log.note("afterWaiting") }
                )
                loop.add(observer, forMode: .default)
                pipe.write("x")
            }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.entries == ["afterWaiting", "port"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatABlockMakesReadyInALaterPassTakesStepFiveToo(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
                log.note("read \(pipe.read() ?? "nothing")")
                loop.stop()
            }
            loop.add(source, forMode: .default)
            loop.wakeUp()
            log.observe(loop, [.beforeTimers, .beforeWaiting, .afterWaiting])
            let passes = Box(0)
            let observer = UVRunLoop.Observer(activities: .beforeTimers) { _, _ in
                passes.value += 1
                if passes.value == 1 { loop.wakeUp() }
                if passes.value == 2 { loop.performLocally { pipe.write("x") } }
            }
            loop.add(observer, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            let story = [
                "beforeTimers", "beforeWaiting", "afterWaiting", "beforeTimers", "read x",
            ]
            #expect(log.entries == story)
        }
    }

    /// Time stands still here: only the number of passes counts.
    @Test func aBusyPortHasOthersAskedForAfterSixtyFourPassesAtTheLatest() throws {
        try withLoop(.manual) { loop, _ in
            let count = try messagesUntilAnotherPort(in: loop)
            #expect(count == 1 + 64 + 1)
        }
    }

    @Test func aBusyPortHasOthersAskedForAfterAMillisecondAtTheLatest() throws {
        try withLoop(.manual) { loop, _ in
            let count = try messagesUntilAnotherPort(in: loop) {
                letTimePass(.microseconds(250), loop)
            }
            #expect(count == 1 + 4)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aBusySourceHasPortsAskedForInEveryPass(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let (pipe, passes) = (Pipe(), Box(0))
            try addReader(of: pipe, to: loop) { loop.stop() }
            keepBusy(loop) {
                passes.value += 1
                if passes.value == 2 { pipe.write("x") }
            }
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(passes.value == 2)
        }
    }

    @Test func aRunThatReturnsAfterASourceAsksForReadyPortsInEveryPass() throws {
        try withLoop(.manual) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) { log.note("port") }
            keepBusy(loop) {
                log.note("source")
                pipe.write("x")
            }
            for _ in 1...3 {
                loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            }
            #expect(log.entries == ["source", "port", "source", "port", "source", "port"])
        }
    }

    /// The observer makes two ports ready after the poll of step 5, in the first pass.
    @Test(arguments: DriverKind.allCases)
    func theFirstPassAsksForReadyPortsInStepSevenAlthoughItKnowsOfOne(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) { log.note("pipe") }
            let port = UVRunLoop.Port { _, message in
                log.note("message \(message.id)")
                if message.id == 3 { loop.stop() }
            }
            loop.add(port, forMode: .default)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                for id: Int32 in 1...3 { _ = port.send(UVRunLoop.PortMessage(id: id)) }
                pipe.write("x")
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
            #expect(log.entries == ["message 1", "pipe", "message 2", "message 3"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aHandledSourceIsFollowedByAPollForAReadyPort(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) { log.note("port") }
            pipe.write("x")
            log.observe(loop)
            addSignalledSource(to: loop) { log.note("source") }
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "source", "port", "exit",
                ]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatIsReadyIsServedWithoutTheWaitingNotifications(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) { log.note("port") }
            pipe.write("x")
            log.observe(loop)
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "port", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func afterAPortTheLoopGoesBackToTheSecondStep(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) { log.note("port") }
            pipe.write("x")
            log.observe(loop)
            stop(loop, inPass: 2)
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(
                log.entries == ["entry", "beforeTimers", "beforeSources", "port"]
                    + sleepingPass + ["exit"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortThatBecomesReadyDuringTheSleepEndsItAndIsServed(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) { log.note("port") }
            log.observe(loop)
            let observer = UVRunLoop.Observer(activities: .beforeWaiting, repeats: false) { _, _ in
                elsewhere(after: .milliseconds(5), loop) { pipe.write("x") }
            }
            loop.add(observer, forMode: .default)
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
            #expect(log.entries == ["entry"] + sleepingPass + ["port", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func onePassServesOnePort(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipes = [Pipe(), Pipe()]
            var served: Set<Int> = []
            for (index, pipe) in pipes.enumerated() {
                try addReader(of: pipe, to: loop) {
                    log.note("port")
                    served.insert(index)
                    if served.count == 2 { loop.stop() }
                }
                pipe.write("x")
            }
            log.observe(loop)
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "port",
                    "beforeTimers", "beforeSources", "port", "exit",
                ]
            )
            #expect(served == [0, 1])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aPortComesBeforeADueTimerAndTheTimerBeforeTheNextPort(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop, count: 1) {
                log.note("port")
                if log.entries.count == 3 { loop.stop() }
            }
            pipe.write("ab")
            addTimer(to: loop, after: .milliseconds(1)) { log.note("timer") }
            letTimePass(.milliseconds(2), loop)
            let result = loop.run(mode: .default, for: .seconds(60))
            #expect(result == .stopped)
            #expect(log.entries == ["port", "timer", "port"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func portsAndTimersTakeTurnsInALoopOfOnePassRunsToo(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop, count: 1) { log.note("port") }
            pipe.write("ab")
            addTimer(to: loop, after: .milliseconds(1)) { log.note("timer") }
            letTimePass(.milliseconds(2), loop)
            for _ in 1...3 {
                loop.run(mode: .default, for: .zero)
                log.note("returned")
            }
            #expect(
                log.entries == ["port", "returned", "timer", "returned", "port", "returned"]
            )
        }
    }

    @Test(arguments: DriverKind.allCases)
    func aRunWhoseLimitIsPastServesAReadyPort(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) { log.note("port") }
            pipe.write("x")
            log.observe(loop)
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["entry", "beforeTimers", "beforeSources", "port", "exit"])
        }
    }

    @Test(arguments: DriverKind.allCases)
    func blocksOfAPortHandlerRunInItsPass(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            try addReader(of: pipe, to: loop) {
                log.note("port")
                loop.perform { log.note("block") }
            }
            pipe.write("x")
            log.observe(loop)
            loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
            #expect(
                log.entries == [
                    "entry", "beforeTimers", "beforeSources", "port", "block", "exit",
                ]
            )
        }
    }
}

/// Adds a port that always has a message.
private func addBusyPort(to loop: UVRunLoop, _ action: @escaping () -> Void) {
    let port = UVRunLoop.Port { port, message in
        action()
        _ = port.send(message)
    }
    loop.add(port, forMode: .default)
    _ = port.send(UVRunLoop.PortMessage(id: 1))
}

/// How many messages a busy port handles until a run that it keeps busy serves another port, which
/// becomes ready in the second one.
private func messagesUntilAnotherPort(
    in loop: UVRunLoop,
    inEach action: @escaping () -> Void = {}
) throws -> Int {
    let (pipe, messages) = (Pipe(), Box(0))
    try addReader(of: pipe, to: loop) { loop.stop() }
    addBusyPort(to: loop) {
        messages.value += 1
        if messages.value == 2 { pipe.write("x") }
        action()
    }
    #expect(loop.run(mode: .default, for: .seconds(60)) == .stopped)
    return messages.value
}

/// Adds a source that is always signalled.
private func keepBusy(_ loop: UVRunLoop, _ action: @escaping () -> Void) {
    let source = UVRunLoop.Source { source in
        action()
        source.signal()
    }
    loop.add(source, forMode: .default)
    source.signal()
}

private func addReader(
    of pipe: Pipe,
    to loop: UVRunLoop,
    count: Int = 4096,
    _ action: @escaping () -> Void
) throws {
    let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in
        _ = pipe.read(count)
        action()
    }
    loop.add(source, forMode: .default)
}
