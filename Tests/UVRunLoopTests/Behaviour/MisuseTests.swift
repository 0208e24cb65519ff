import Testing
import UVRunLoop

/// Rules whose breach stops the process.
@Suite(.timeLimit(.minutes(15))) struct MisuseTests {
    @Test func runningALoopFromAnotherThreadTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { runFromAnotherThread() }
        #expect(says("belongs to another thread", result?.standardErrorContent))
    }

    @Test func runningALoopUntilADateFromAnotherThreadTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { runUntilADateFromAnotherThread() }
        #expect(says("belongs to another thread", result?.standardErrorContent))
    }

    @Test func runningALoopWithoutLimitFromAnotherThreadTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { runWithoutLimitFromAnotherThread() }
        #expect(says("belongs to another thread", result?.standardErrorContent))
    }

    @Test func askingForTheCurrentModeFromAnotherThreadTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { askForTheModeFromAnotherThread() }
        #expect(says("belongs to another thread", result?.standardErrorContent))
    }

    @Test func aLocalBlockFromAnotherThreadTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { performLocallyFromAnotherThread() }
        #expect(says("belongs to another thread", result?.standardErrorContent))
    }

    @Test func aBlockForNoModeTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { performInNoMode() }
        #expect(says("at least one mode", result?.standardErrorContent))
    }

    @Test func aTimerInASecondLoopTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addATimerToASecondLoop() }
        #expect(says("is in another run loop", result?.standardErrorContent))
    }

    @Test func anObserverInASecondLoopTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAnObserverToASecondLoop() }
        #expect(says("is in another run loop", result?.standardErrorContent))
    }

    @Test func aTimerWithAPlainHandlerInAnotherThreadsLoopTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAPlainTimerElsewhere() }
        #expect(says("is not @Sendable", result?.standardErrorContent))
    }

    @Test func aSourceWithAPlainHandlerInAnotherThreadsLoopTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAPlainSourceElsewhere() }
        #expect(says("is not @Sendable", result?.standardErrorContent))
    }

    @Test func anObserverWithAPlainHandlerInAnotherThreadsLoopTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAPlainObserverElsewhere() }
        #expect(says("is not @Sendable", result?.standardErrorContent))
    }

    @Test func aDescriptorSourceWithAPlainHandlerInAnotherThreadsLoopTraps() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAPlainDescriptorSourceElsewhere() }
        #expect(says("is not @Sendable", result?.standardErrorContent))
    }

    @Test func firingATimerWithAPlainHandlerOnAnotherThreadTraps() async {
        await #expect(processExitsWith: .failure) { fireAPlainTimerElsewhere() }
    }

    @Test func theSameCallsByTheRulesDoNotTrap() async {
        await #expect(processExitsWith: .success) { keepTheRules() }
    }
}

/// The calling thread's loop, with something to wait for.
private func loopWithASource() -> UVRunLoop {
    let loop = UVRunLoop.current
    loop.add(UVRunLoop.Source(sendablePerform: { _ in }), forMode: .default)
    return loop
}

private func runFromAnotherThread() {
    let loop = loopWithASource()
    onAnotherThread { loop.run(mode: .default, for: .zero) }
}

private func runUntilADateFromAnotherThread() {
    let loop = loopWithASource()
    let limit = loop.now
    onAnotherThread { loop.run(mode: .default, until: limit) }
}

private func runWithoutLimitFromAnotherThread() {
    let loop = UVRunLoop.current
    onAnotherThread { loop.run() }
}

private func askForTheModeFromAnotherThread() {
    let loop = loopWithASource()
    onAnotherThread { _ = loop.currentMode }
}

private func performLocallyFromAnotherThread() {
    let loop = loopWithASource()
    onAnotherThread { loop.performLocally {} }
}

private func performInNoMode() {
    UVRunLoop.current.perform(inModes: []) {}
}

private func addATimerToASecondLoop() {
    let timer = UVRunLoop.Timer(after: .seconds(60), sendableHandler: { _ in })
    UVRunLoop.current.add(timer, forMode: .default)
    onAnotherThread { UVRunLoop.current.add(timer, forMode: .default) }
}

private func addAnObserverToASecondLoop() {
    let observer = UVRunLoop.Observer(activities: .all, sendableHandler: { _, _ in })
    UVRunLoop.current.add(observer, forMode: .default)
    onAnotherThread { UVRunLoop.current.add(observer, forMode: .default) }
}

private func addAPlainTimerElsewhere() {
    let timer = UVRunLoop.Timer(after: .seconds(60), handler: { _ in })
    onAnotherThread { UVRunLoop.current.add(timer, forMode: .default) }
}

private func addAPlainSourceElsewhere() {
    let source = UVRunLoop.Source(perform: { _ in })
    onAnotherThread { UVRunLoop.current.add(source, forMode: .default) }
}

private func addAPlainObserverElsewhere() {
    let observer = UVRunLoop.Observer(activities: .all, handler: { _, _ in })
    onAnotherThread { UVRunLoop.current.add(observer, forMode: .default) }
}

/// A pipe that cannot be watched ends the process in peace, which fails the test.
private func addAPlainDescriptorSourceElsewhere() {
    let pipe = Pipe()
    guard
        let source = try? UVRunLoop.DescriptorSource(
            pipe.readEnd,
            events: .readable,
            handler: { _, _ in withExtendedLifetime(pipe) {} }
        )
    else { return }
    onAnotherThread { UVRunLoop.current.add(source, forMode: .default) }
}

private func fireAPlainTimerElsewhere() {
    let timer = UVRunLoop.Timer(after: .seconds(60), handler: { _ in })
    UVRunLoop.current.add(timer, forMode: .default)
    onAnotherThread { timer.fire() }
}

/// Everything above as it should be done: proof that the traps have the causes they are meant to.
private func keepTheRules() {
    let loop = loopWithASource()
    let timer = UVRunLoop.Timer(after: .seconds(60), handler: { _ in })
    let observer = UVRunLoop.Observer(activities: .all, handler: { _, _ in })
    let source = UVRunLoop.Source(perform: { _ in })
    loop.add(timer, forMode: .default)
    loop.add(observer, forMode: .default)
    loop.add(source, forMode: .default)
    loop.performLocally {}
    loop.perform(inModes: [.default]) {}
    timer.fire()
    precondition(loop.currentMode == nil)
    precondition(loop.run(mode: .default, for: .zero) == .timedOut)

    let travelling = UVRunLoop.Timer(after: .seconds(60), sendableHandler: { _ in })
    onAnotherThread {
        UVRunLoop.current.add(travelling, forMode: .default)
        loop.perform { loop.stop() }
    }
    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
}
