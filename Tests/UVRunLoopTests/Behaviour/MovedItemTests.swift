import TestSupport
import Testing
import UVRunLoop

/// Items that their own handlers move to the loop of another thread.
@Suite(.timeLimit(.minutes(15))) struct MovedItemTests {
    @Test func aTimerIsNotFiredAgainByTheOtherLoop() throws {
        try withTwoLoops { first, second in
            for round in 0..<2_000 {
                let (calls, end) = (Counter(), Signal())
                let timer = UVRunLoop.Timer(
                    after: .zero,
                    sendableHandler: { timer in
                        calls.add()
                        if UVRunLoop.current === first {
                            first.remove(timer, forMode: .default)
                            second.add(timer)
                            spin(round % 60)
                        }
                        end.send()
                    }
                )
                first.add(timer)
                end.wait()
                finish(first, second)
                #expect(calls.value == 1 && !timer.isValid)
            }
        }
    }

    /// The order of timers with one date is that of their scheduling, in which its next date counts.
    @Test func theNextDateOfAMovedTimerComesAfterWhatWasScheduledDuringItsCall() throws {
        try withTwoLoops { first, second in
            let log = EventLog()
            let isDone = Signal()
            let date = SuspendingClock.now.advanced(by: .milliseconds(1))
            let next = date.advanced(by: .milliseconds(40))
            let moved = UVRunLoop.Timer(
                at: date,
                interval: .milliseconds(40),
                sendableHandler: { timer in
                    guard UVRunLoop.current === first else {
                        timer.invalidate()
                        log.note("moved")
                        return isDone.send()
                    }
                    first.remove(timer, forMode: .default)
                    second.add(timer)
                    second.add(UVRunLoop.Timer(at: next, sendableHandler: { _ in log.note("new") }))
                }
            )
            first.add(moved)
            isDone.wait()
            finish(second)
            #expect(log.entries == ["new", "moved"])
        }
    }

    /// While each calls the timer that the other has now.
    @Test func aLoopKnowsTheDateOfTheTimerThatItHas() throws {
        try withTwoLoops { first, second in
            let (hasMoved, mayEnd) = (Signal(), Signal())
            let move = { @Sendable (timer: UVRunLoop.Timer, from: UVRunLoop, to: UVRunLoop) in
                from.remove(timer, forMode: .default)
                to.add(timer)
                hasMoved.send()
                mayEnd.wait()
            }
            let now = SuspendingClock.now
            let timers = [(first, second), (second, first)].enumerated().map { index, loops in
                let timer = UVRunLoop.Timer(
                    at: now.advanced(by: .milliseconds(index + 1)),
                    interval: .seconds(3_600),
                    sendableHandler: { move($0, loops.0, loops.1) }
                )
                loops.0.add(timer)
                return timer
            }
            hasMoved.wait(times: 2)
            #expect(first.nextFireDate(forMode: .default) == timers[1].nextFireDate)
            #expect(second.nextFireDate(forMode: .default) == timers[0].nextFireDate)
            for _ in timers { mayEnd.send() }
            finish(first, second)
            for timer in timers { timer.invalidate() }
        }
    }

    @Test func aRepeatingTimerGoesOnToItsNextDateInTheOtherLoop() throws {
        try withTwoLoops { first, second in
            for _ in 0..<200 {
                let (calls, end) = (Counter(), Signal())
                let begin = SuspendingClock.now
                let timer = UVRunLoop.Timer(
                    after: .zero,
                    interval: .seconds(3_600),
                    sendableHandler: { timer in
                        calls.add()
                        first.remove(timer, forMode: .default)
                        second.add(timer)
                        end.send()
                    }
                )
                first.add(timer)
                end.wait()
                finish(first, second)
                #expect(calls.value == 1 && timer.isValid)
                #expect(timer.nextFireDate >= begin.advanced(by: .seconds(3_600)))
                timer.invalidate()
            }
        }
    }

    /// What another thread may change, and the end of a call or of a loop reads.
    @Test func aTimerIsRedatedDuringItsCallsItsMovesAndTheEndOfItsLoop() throws {
        let calls = Counter()
        let timer = UVRunLoop.Timer(
            after: .zero,
            interval: .nanoseconds(1),
            sendableHandler: { timer in
                calls.add()
                UVRunLoop.current.remove(timer, forMode: .default)
                UVRunLoop.current.add(timer)
            }
        )
        for _ in 0..<20 {
            let thread = try UVRunLoop.Thread()
            thread.runLoop.add(timer)
            let before = calls.value
            while calls.value < before + 50 { timer.nextFireDate = .now }
            thread.stop()
            for _ in 0..<500 {
                timer.nextFireDate = .now
                timer.tolerance = .nanoseconds(1)
                timer.label = "timer \(timer.missedFires)"
            }
            thread.join()
        }
        #expect(timer.isValid && calls.value >= 1_000)
        timer.invalidate()
    }

    @Test func anObserverIsNotCalledAgainByTheOtherLoop() throws {
        try withTwoLoops { first, second in
            let wakes = UVRunLoop.Timer(
                after: .zero,
                interval: .microseconds(20),
                sendableHandler: { _ in }
            )
            second.add(wakes)
            for round in 0..<2_000 {
                let (calls, end) = (Counter(), Signal())
                let observer = UVRunLoop.Observer(
                    activities: .beforeTimers,
                    repeats: false,
                    sendableHandler: { observer, _ in
                        calls.add()
                        if UVRunLoop.current === first {
                            first.remove(observer, forMode: .default)
                            second.add(observer)
                            spin(round % 60)
                        }
                        end.send()
                    }
                )
                first.add(observer)
                first.wakeUp()
                end.wait()
                finish(first, second)
                #expect(calls.value == 1 && !observer.isValid)
            }
            wakes.invalidate()
        }
    }
}

private func withTwoLoops(_ body: (UVRunLoop, UVRunLoop) throws -> Void) throws {
    let threads = try ["first", "second"].map { try UVRunLoop.Thread(name: $0) }
    defer {
        for thread in threads {
            thread.stop()
            thread.join()
        }
    }
    try body(threads[0].runLoop, threads[1].runLoop)
}

/// Waits until each loop has made a pass, which it does after the call in progress.
private func finish(_ loops: UVRunLoop...) {
    for loop in loops {
        for _ in 0..<2 {
            let passed = Signal()
            loop.perform { passed.send() }
            passed.wait()
        }
    }
}

/// Keeps the processor for some microseconds.
private func spin(_ microseconds: Int) {
    let end = ContinuousClock.now + .microseconds(microseconds)
    while ContinuousClock.now < end {}
}
