import Testing
import UVRunLoop

/// The messages of traps, which name the caller's place and the item's label.
@Suite(.timeLimit(.minutes(15))) struct TrapTests {
    @Test func aTrapOfARunOnAnotherThreadNamesTheCallerAndTheLoop() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { runElsewhere() }
        #expect(says("TrapTests.swift:\(runLine): ", result?.standardErrorContent))
        #expect(says("The run loop \"planner\" belongs", result?.standardErrorContent))
    }

    @Test func aTrapOfAPlainTimerElsewhereNamesTheCallerAndTheTimer() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAPlainTimerElsewhere() }
        #expect(says("TrapTests.swift:\(plainTimerLine): ", result?.standardErrorContent))
        #expect(says("The timer \"poll\" has a handler", result?.standardErrorContent))
    }

    @Test func aTrapOfAPlainPortElsewhereNamesTheCallerAndThePort() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAPlainPortElsewhere() }
        #expect(says("TrapTests.swift:\(plainPortLine): ", result?.standardErrorContent))
        #expect(says("The port-based source \"requests\" has", result?.standardErrorContent))
    }

    @Test func aTrapOfAnObserverInASecondLoopNamesTheCallerAndTheObserver() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAnObserverTwice() }
        #expect(says("TrapTests.swift:\(observerLine): ", result?.standardErrorContent))
        #expect(says("The observer \"watch\" is in another", result?.standardErrorContent))
    }

    @Test func aTrapOfABlockForNoModeNamesTheCaller() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { performInNoMode() }
        #expect(says("TrapTests.swift:\(performLine): ", result?.standardErrorContent))
    }

    @Test func aTrapOfAnItemWithoutALabelNamesItsKind() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) { addAnUnlabelledSourceElsewhere() }
        #expect(says("This source has a handler that is not", result?.standardErrorContent))
    }
}

private let runLine = #line + 4
private func runElsewhere() {
    let loop = UVRunLoop.current
    loop.label = "planner"
    onAnotherThread { loop.run(mode: .default, for: .zero) }
}

private let plainTimerLine = #line + 6
private func addAPlainTimerElsewhere() {
    let loop = UVRunLoop.current
    onAnotherThread {
        let timer = UVRunLoop.Timer(after: .seconds(60)) { _ in }
        timer.label = "poll"
        loop.add(timer, forMode: .default)
    }
}

private let plainPortLine = #line + 6
private func addAPlainPortElsewhere() {
    let loop = UVRunLoop.current
    onAnotherThread {
        let port = UVRunLoop.Port { _, _ in }
        port.label = "requests"
        loop.add(port, forMode: .default)
    }
}

private let observerLine = #line + 6
private func addAnObserverTwice() {
    let observer = UVRunLoop.Observer(activities: .all, sendableHandler: { _, _ in })
    observer.label = "watch"
    UVRunLoop.current.add(observer)
    onAnotherThread {
        UVRunLoop.current.add(observer)
    }
}

private let performLine = #line + 2
private func performInNoMode() {
    UVRunLoop.current.perform(inModes: []) {}
}

private func addAnUnlabelledSourceElsewhere() {
    let loop = UVRunLoop.current
    onAnotherThread { loop.add(UVRunLoop.Source { _ in }) }
}
