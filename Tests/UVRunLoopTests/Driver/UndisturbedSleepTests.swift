import Glibc
import Testing

@testable import UVRunLoop

/// For which changes by other threads a sleeping loop is woken.
@Suite(.timeLimit(.minutes(15))) struct UndisturbedSleepTests {
    /// Has another thread do something, and then stop the loop, while it sleeps until a timer's
    /// date, a minute ahead.
    ///
    /// - Returns: How often the thread had woken the loop before it stopped it.
    private func wakes(
        limit: Duration = .seconds(100),
        _ prepare: (UVRunLoop) -> Void = { _ in },
        by action: @escaping @Sendable (UVRunLoop) -> Void
    ) throws -> Int {
        try withCountedLoop { loop, _ in
            let counter = WakeCounter(loop)
            defer { counter.stop() }
            loop.add(UVRunLoop.Timer(after: .seconds(60)) { _ in })
            prepare(loop)
            let wakes = SharedBox(-1)
            duringSleep(of: loop) {
                action(loop)
                wakes.value = counter.count
                loop.stop()
            }
            #expect(loop.run(mode: .default, for: limit) == .stopped)
            return wakes.value
        }
    }

    private static let other = UVRunLoop.Mode(rawValue: "other")

    @Test(arguments: [UVRunLoop.Mode.default, .common])
    func timersThatAreDueLaterDoNotDisturbIt(mode: UVRunLoop.Mode) throws {
        let wakes = try wakes { loop in
            let timer = UVRunLoop.Timer(after: .seconds(70), sendableHandler: { _ in })
            loop.add(timer, forMode: mode)
            timer.nextFireDate = timer.nextFireDate.advanced(by: .seconds(10))
            timer.tolerance = .seconds(5)
            loop.remove(timer, forMode: mode)
            loop.remove(timer, forMode: mode)
            loop.add(timer, forMode: mode)
            timer.invalidate()
        }
        #expect(wakes == 0)
    }

    @Test func laterTimersOfAnotherModeDoNotDisturbIt() throws {
        let wakes = try wakes {
            $0.add(UVRunLoop.Timer(after: .seconds(90)) { _ in }, forMode: Self.other)
        } by: { loop in
            let timer = UVRunLoop.Timer(after: .seconds(70), sendableHandler: { _ in })
            loop.add(timer, forMode: Self.other)
            timer.invalidate()
        }
        #expect(wakes == 0)
    }

    @Test func laterDelayedRequestsDoNotDisturbIt() throws {
        let wakes = try wakes { $0.requestPerform(after: .seconds(70)) {}.cancel() }
        #expect(wakes == 0)
    }

    @Test func timersBeyondTheLimitDoNotDisturbIt() throws {
        let wakes = try wakes(limit: .seconds(30)) { loop in
            let timer = UVRunLoop.Timer(after: .seconds(50), sendableHandler: { _ in })
            loop.add(timer)
            timer.nextFireDate = timer.nextFireDate.advanced(by: .seconds(-10))
            timer.invalidate()
        }
        #expect(wakes == 0)
    }

    @Test func aModeThatIsCommonAlreadyDoesNotDisturbIt() throws {
        let wakes = try wakes {
            $0.addCommonMode(Self.other)
        } by: { loop in
            loop.addCommonMode(.default)
            loop.addCommonMode(Self.other)
        }
        #expect(wakes == 0)
    }

    // MARK: Those that count

    /// Sleeps with a timer that is due in a minute, and must not fire.
    private func sleep(
        _ prepare: (UVRunLoop) -> Void = { _ in },
        while action: @escaping @Sendable (UVRunLoop) -> Void
    ) throws {
        try withCountedLoop { loop, _ in
            prepare(loop)
            loop.add(UVRunLoop.Timer(after: .seconds(60)) { _ in Issue.record("Too late.") })
            duringSleep(of: loop) { action(loop) }
            #expect(loop.run(mode: .default, for: .seconds(100)) == .stopped)
        }
    }

    @Test func aSoonerTimerIsWaitedFor() throws {
        try sleep { loop in
            let timer = UVRunLoop.Timer(
                after: .milliseconds(1),
                sendableHandler: { _ in loop.stop() }
            )
            loop.add(timer)
        }
    }

    @Test func aLaterTimerThatIsSetToASoonerDateIsWaitedFor() throws {
        let timer = UVRunLoop.Timer(after: .seconds(70), sendableHandler: { $0.loop?.stop() })
        try sleep {
            $0.add(timer)
        } while: { _ in
            timer.nextFireDate = .now.advanced(by: .milliseconds(1))
        }
    }

    /// Without it, the sleep would end at once.
    @Test func aToleranceThatIsTakenAwayIsTakenNoteOf() throws {
        let timer = UVRunLoop.Timer(
            after: .milliseconds(20),
            tolerance: .seconds(70),
            sendableHandler: { $0.loop?.stop() }
        )
        try sleep {
            $0.add(timer)
        } while: { _ in
            timer.tolerance = .zero
        }
    }

    /// The date of a timer that has gone ends no sleep.
    @Test func theTimerThatEndsTheSleepIsInvalidated() {
        withLoop(.manual) { loop, log in
            let timer = UVRunLoop.Timer(after: .milliseconds(20), sendableHandler: { _ in })
            loop.add(timer)
            addFarTimer(to: loop)
            log.observe(loop)
            duringSleep(of: loop) { timer.invalidate() }
            #expect(loop.run(mode: .default, for: .milliseconds(50)) == .timedOut)
            #expect(log.entries == ["entry"] + sleepingPass + ["exit"])
        }
    }

    /// It is due after the limit, at which the sleep would end.
    @Test func theLastTimerEndsTheRunWhenItLeaves() throws {
        try withCountedLoop { loop, _ in
            let timer = UVRunLoop.Timer(after: .seconds(60), sendableHandler: { _ in })
            loop.add(timer)
            duringSleep(of: loop) { timer.invalidate() }
            #expect(loop.run(mode: .default, for: .seconds(10)) == .finished)
        }
    }

    /// As soon as it is in no loop, it may get a date that concerns the sleep no more.
    @Test func aTimerThatIsRemovedAndPutOffAtOnceDecidesNoSleep() {
        let thread = LoopOnAThread(limit: .seconds(600))
        let loop = thread.loop
        loop.add(UVRunLoop.Timer(after: .seconds(500), sendableHandler: { _ in }))
        let counter = WakeCounter(loop)
        let current = SharedBox<UVRunLoop.Timer?>(nil)
        let isOver = SharedBox(false)
        let others = (0..<2).map { _ in
            startThread {
                while !isOver.value {
                    guard let timer = current.value, !loop.contains(timer, forMode: .default) else {
                        continue
                    }
                    timer.nextFireDate = .now.advanced(by: .seconds(1000))
                }
            }
        }
        for _ in 0..<2_000 {
            let timer = UVRunLoop.Timer(after: .seconds(300), sendableHandler: { _ in })
            let date = timer.nextFireDate.nanoseconds
            loop.add(timer)
            // It sleeps until the timer's date: first that is its plan, then it falls asleep.
            while !loop.waker.sleepPlan.endsBefore(date + 1, version: loop.summary.version)
                || !loop.isWaiting || loop.wakeState.isMarked
            {
                usleep(10)
            }
            let wakes = counter.count
            current.value = timer
            loop.remove(timer, forMode: .default)
            #expect(counter.count > wakes)
            current.value = nil
        }
        isOver.value = true
        for other in others { other.join() }
        counter.stop()
        thread.stop()
        thread.join()
    }

    /// Among timers that do not matter, none that does is missed.
    @Test func everySoonerTimerFires() throws {
        let thread = LoopOnAThread()
        let loop = thread.loop
        loop.add(UVRunLoop.Timer(after: .seconds(600), sendableHandler: { _ in }))
        for round in 0..<500 {
            let later = UVRunLoop.Timer(after: .seconds(1000), sendableHandler: { _ in })
            loop.add(later)
            let fired = Signal()
            let delay = Duration.microseconds(round % 7 * 50)
            loop.add(UVRunLoop.Timer(after: delay, sendableHandler: { _ in fired.send() }))
            later.invalidate()
            fired.wait()
        }
        thread.stop()
        thread.join()
    }
}
