import Testing
import UVRunLoop
import UVRunLoopTesting

/// Several loops, each on its thread, with one clock.
@Suite(.timeLimit(.minutes(15))) struct SharedClockTests {
    private let clock = UVRunLoop.VirtualClock()
    private let log: UVRunLoop.EventLog

    init() { log = UVRunLoop.EventLog(timedBy: clock) }

    private func startThread(_ name: String) throws -> UVRunLoop.Thread {
        try UVRunLoop.Thread(name: name, clock: clock)
    }

    private func end(_ threads: UVRunLoop.Thread...) {
        for thread in threads {
            thread.stop()
            thread.join()
        }
    }

    // MARK: Jumps

    @Test func theClockJumpsToTheSoonestDateOfAnyLoop() throws {
        let (one, two) = (try startThread("one"), try startThread("two"))
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            for (thread, seconds) in [(one, 1), (two, 2), (one, 3), (two, 4), (one, 5)] {
                thread.runLoop.requestPerform(after: .seconds(seconds)) { [log] in
                    log.note(thread.name ?? "")
                }
            }
            loop.runUntilIdle()
        }
        end(one, two)
        let expected = ["1 s: one", "2 s: two", "3 s: one", "4 s: two", "5 s: one"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func loopsWithTheSameDateTakeTurnsInTheOrderInWhichTheyWereMade() throws {
        for _ in 0..<20 {
            log.clear()
            let start = clock.elapsed
            let (one, two) = (try startThread("one"), try startThread("two"))
            UVRunLoop.withVirtualLoop(clock: clock) { loop in
                for thread in [two, one] {
                    thread.runLoop.requestPerform(after: .seconds(1)) { [log] in
                        log.note("\(thread.name ?? "") begins")
                        log.note("\(thread.name ?? "") ends")
                    }
                }
                loop.runUntilIdle()
            }
            end(one, two)
            #expect(clock.elapsed - start == .seconds(1))
            let entries = log.entries.map { $0.drop { $0 != ":" } }
            #expect(entries == [": one begins", ": one ends", ": two begins", ": two ends"])
        }
    }

    @Test func aLoopThatDoesNotRunHoldsTheClock() throws {
        let thread = try startThread("worker")
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            thread.runLoop.requestPerform(after: .seconds(1)) { [log] in log.note("worker") }
            // The worker sleeps, until a date, and cannot jump there.
            while !thread.runLoop.isWaiting { sleepBriefly() }
            sleepBriefly(times: 20)
            #expect(clock.elapsed == .zero)
            #expect(log.count == 0)
            loop.runUntilIdle()
            #expect(clock.elapsed == .seconds(1))
        }
        end(thread)
        #expect(log.difference(from: ["1 s: worker"]) == nil)
    }

    @Test func aHandlerHoldsTheClockForTheOthers() throws {
        let (one, two) = (try startThread("one"), try startThread("two"))
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            two.runLoop.requestPerform(after: .seconds(2)) { [log] in log.note("two") }
            one.runLoop.requestPerform(after: .seconds(1)) { [clock, log] in
                log.note("one begins")
                while !(two.runLoop.isWaiting && loop.isWaiting) { sleepBriefly() }
                sleepBriefly(times: 20)
                #expect(clock.elapsed == .seconds(1))
                log.note("one ends")
            }
            loop.runUntilIdle()
        }
        end(one, two)
        let expected = ["1 s: one begins", "1 s: one ends", "2 s: two"]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func aBusyHandlerMakesTheDatesOfTheOthersLate() throws {
        let (one, two) = (try startThread("one"), try startThread("two"))
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            two.runLoop.requestPerform(after: .seconds(2)) { [log] in log.note("two") }
            one.runLoop.requestPerform(after: .seconds(1)) { [clock, log] in
                clock.advance(by: .seconds(9))
                log.note("one")
            }
            loop.runUntilIdle()
        }
        end(one, two)
        #expect(log.difference(from: ["10 s: one", "10 s: two"]) == nil)
    }

    @Test func loopsThatAPlanWakesContinueWhenItHasEnded() throws {
        let thread = try startThread("worker")
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            for seconds in 1...3 {
                clock.after(.seconds(seconds)) { [log] in
                    for each in [loop, thread.runLoop] { each.perform { log.note("block") } }
                    sleepBriefly(times: 20)
                    log.note("planned")
                }
            }
            loop.runUntilIdle()
        }
        end(thread)
        let expected = (1...3).flatMap { seconds in
            ["planned", "block", "block"].map { "\(seconds) s: \($0)" }
        }
        #expect(log.difference(from: expected) == nil)
    }

    @Test func aLoopThatEndsHoldsNothing() throws {
        let (one, two) = (try startThread("one"), try startThread("two"))
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            one.runLoop.requestPerform(after: .seconds(1)) { [log] in
                log.note("one ends")
                one.stop()
            }
            two.runLoop.requestPerform(after: .seconds(2)) { [log] in
                one.join()
                log.note("two")
            }
            loop.runUntilIdle()
        }
        end(two)
        #expect(log.difference(from: ["1 s: one ends", "2 s: two"]) == nil)
    }

    @Test func aRunThatIsStoppedByAnotherLoopLeavesTheOthersWaiting() throws {
        let thread = try startThread("worker")
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            loop.add(UVRunLoop.Source { _ in }, forMode: .default)
            thread.runLoop.requestPerform(after: .seconds(1)) { loop.stop() }
            thread.runLoop.requestPerform(after: .seconds(2)) { [log] in log.note("worker") }
            #expect(loop.run(for: nil) == .stopped)
            #expect(clock.elapsed == .seconds(1))
            loop.runUntilIdle()
        }
        end(thread)
        #expect(log.difference(from: ["2 s: worker"]) == nil)
    }

    @Test func aWaitForAnotherLoopsThreadIsNoDeadlock() throws {
        let thread = try startThread("worker")
        try UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let answer = try thread.runLoop.performAndWait { [log] in
                log.note("worker")
                return 42
            }
            #expect(answer == 42)
        }
        end(thread)
        #expect(log.difference(from: ["0 s: worker"]) == nil)
    }

    // MARK: Messages

    @Test func messagesArriveBeforeTheClockJumps() throws {
        for _ in 0..<100 { try playPingPong() }
    }

    private func playPingPong() throws {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        let thread = try UVRunLoop.Thread(name: "pong", clock: clock)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            // Each answers after a second, and a timer of either loop comes in between.
            let ping = UVRunLoop.Port(sendableHandler: { _, message in
                guard let ball = message.value(as: Ball.self) else { return }
                log.note("ping \(ball.number)")
                loop.requestPerform(after: .seconds(1)) {
                    log.note("serve")
                    ball.send(to: ball.other)
                }
            })
            let pong = UVRunLoop.Port(sendableHandler: { _, message in
                guard let ball = message.value(as: Ball.self), ball.number < 6 else { return }
                log.note("pong \(ball.number)")
                thread.runLoop.requestPerform(after: .seconds(1)) { ball.send(to: ping) }
            })
            loop.add(ping, forMode: .default)
            thread.runLoop.add(pong, forMode: .default)
            thread.runLoop.requestPerform(after: .milliseconds(2_500)) { log.note("between") }
            Ball(number: 0, other: pong).send(to: ping)
            loop.runUntilIdle()
        }
        end(thread)
        let expected = [
            "0 s: ping 1", "1 s: serve", "1 s: pong 2", "2 s: ping 3", "2.5 s: between",
            "3 s: serve", "3 s: pong 4", "4 s: ping 5", "5 s: serve",
        ]
        #expect(log.difference(from: expected) == nil)
    }
}

private struct Ball: Sendable {
    var number: Int
    let other: UVRunLoop.Port

    func send(to port: UVRunLoop.Port) {
        let next = Ball(number: number + 1, other: other)
        _ = port.send(UVRunLoop.PortMessage(components: [.value(next)]))
    }
}
