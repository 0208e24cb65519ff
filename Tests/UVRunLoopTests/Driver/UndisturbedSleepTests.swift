import Testing

@testable import UVRunLoop

/// Which changes to timers by other threads a sleeping loop is woken for.
@Suite(.timeLimit(.minutes(5))) struct UndisturbedSleepTests {
    /// Sleeps with a timer a minute ahead until another thread has acted, and stopped the loop.
    ///
    /// - Returns: How often the loop asked the driver to wait, and its result.
    private func sleep(
        _ prepare: (UVRunLoop) -> Void = { _ in },
        while action: @escaping @Sendable (UVRunLoop) -> Void
    ) throws -> (waits: Int, result: UVRunLoop.RunResult) {
        try withCountedLoop { loop, driver in
            loop.add(UVRunLoop.Timer(after: .seconds(60)) { _ in })
            prepare(loop)
            duringSleep(of: loop) {
                action(loop)
                loop.stop()
            }
            let result = loop.run(mode: .default, for: .seconds(100))
            return (driver.counts.waits, result)
        }
    }

    private static let other = UVRunLoop.Mode(rawValue: "other")

    @Test(arguments: [UVRunLoop.Mode.default, .common])
    func timersThatAreDueLaterDoNotDisturbIt(mode: UVRunLoop.Mode) throws {
        let (waits, result) = try sleep { loop in
            let timer = UVRunLoop.Timer(after: .seconds(70), sendableHandler: { _ in })
            loop.add(timer, forMode: mode)
            timer.nextFireDate = timer.nextFireDate.advanced(by: .seconds(10))
            timer.tolerance = .seconds(5)
            loop.remove(timer, forMode: mode)
            loop.add(timer, forMode: mode)
            timer.invalidate()
        }
        #expect(waits == 1)
        #expect(result == .stopped)
    }

    @Test func laterTimersOfAnotherModeDoNotDisturbIt() throws {
        let (waits, _) = try sleep {
            $0.add(UVRunLoop.Timer(after: .seconds(90)) { _ in }, forMode: Self.other)
        } while: { loop in
            let timer = UVRunLoop.Timer(after: .seconds(70), sendableHandler: { _ in })
            loop.add(timer, forMode: Self.other)
            timer.invalidate()
        }
        #expect(waits == 1)
    }

    @Test func laterDelayedRequestsDoNotDisturbIt() throws {
        let (waits, _) = try sleep { loop in
            loop.requestPerform(after: .seconds(70)) {}.cancel()
        }
        #expect(waits == 1)
    }

    /// The limit ends the sleep before the timer's date.
    @Test func aTimerBeyondTheLimitDoesNotDisturbIt() throws {
        try withCountedLoop { loop, driver in
            let timer = UVRunLoop.Timer(after: .seconds(60), sendableHandler: { _ in })
            loop.add(timer)
            duringSleep(of: loop) {
                timer.nextFireDate = timer.nextFireDate.advanced(by: .seconds(-20))
                loop.stop()
            }
            #expect(loop.run(mode: .default, for: .seconds(30)) == .stopped)
            #expect(driver.counts.waits == 1)
        }
    }

    // MARK: Those that count

    @Test func aSoonerTimerIsWaitedFor() throws {
        try withCountedLoop { loop, driver in
            loop.add(UVRunLoop.Timer(after: .seconds(60)) { _ in })
            duringSleep(of: loop) {
                loop.add(
                    UVRunLoop.Timer(
                        after: .milliseconds(1),
                        sendableHandler: { _ in
                            loop.stop()
                        }
                    )
                )
            }
            #expect(loop.run(mode: .default, for: .seconds(100)) == .stopped)
            #expect(driver.counts.waits > 1)
        }
    }

    @Test func aLaterTimerThatIsSetToASoonerDateIsWaitedFor() throws {
        try withCountedLoop { loop, driver in
            loop.add(UVRunLoop.Timer(after: .seconds(60)) { _ in })
            let timer = UVRunLoop.Timer(after: .seconds(70)) { _ in loop.stop() }
            loop.add(timer)
            duringSleep(of: loop) {
                timer.nextFireDate = .now.advanced(by: .milliseconds(1))
            }
            #expect(loop.run(mode: .default, for: .seconds(100)) == .stopped)
            #expect(driver.counts.waits > 1)
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

    /// Among timers that do not matter, none that does is missed.
    @Test func everySoonerTimerFires() throws {
        let rounds = 500
        let thread = LoopOnAThread()
        let loop = thread.loop
        loop.add(UVRunLoop.Timer(after: .seconds(600), sendableHandler: { _ in }))
        for round in 0..<rounds {
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
