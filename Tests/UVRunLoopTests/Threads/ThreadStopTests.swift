import Glibc
import Testing

@testable import UVRunLoop

/// The end of a thread that is there for its loop: never lost, and with or without queued work.
@Suite(.timeLimit(.minutes(15))) struct ThreadStopTests {
    // MARK: Whenever it comes

    @Test func aStopBeforeTheLoopRunsIsNotLost() throws {
        let goOn = Signal()
        let thread = try UVRunLoop.Thread { goOn.wait() }
        thread.stop()
        goOn.send()
        thread.join()
    }

    @Test func aStopWhileTheLoopSleepsEndsIt() throws {
        let thread = try UVRunLoop.Thread()
        awaitSleep(of: thread.runLoop)
        thread.stop()
        thread.join()
    }

    @Test func aStopBetweenTwoRunsIsNotLost() throws {
        // The loop's own stop puts the thread between two runs, again and again.
        for round in 0..<200 {
            let thread = try UVRunLoop.Thread()
            let observer = UVRunLoop.Observer(
                activities: round.isMultiple(of: 2) ? .entry : .exit,
                sendableHandler: { _, _ in thread.stop() }
            )
            thread.runLoop.add(observer, forMode: .default)
            thread.runLoop.stop()
            thread.runLoop.wakeUp()
            thread.runLoop.perform { UVRunLoop.current.stop() }
            thread.join()
            observer.invalidate()
        }
    }

    @Test(arguments: [true, false])
    func aStopEndsNestedRunsOfWhateverModeAndThoseThatBeginAfterIt(finishes: Bool) throws {
        let log = EventLog()
        let deep = Signal()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            let loop = UVRunLoop.current
            for mode in ["A", "B", "C"].map({ UVRunLoop.Mode($0) }) {
                loop.add(UVRunLoop.Source { _ in }, forMode: mode)
            }
            loop.perform(inModes: [UVRunLoop.Mode("A")]) {
                loop.perform(inModes: [UVRunLoop.Mode("B")]) { deep.send() }
                log.note("B \(loop.run(mode: UVRunLoop.Mode("B"), for: nil))")
            }
            log.note("A \(loop.run(mode: UVRunLoop.Mode("A"), for: nil))")
            log.note("C \(loop.run(mode: UVRunLoop.Mode("C"), for: nil))")
        }
        deep.wait()
        thread.stop(afterQueuedWork: finishes)
        thread.join()
        #expect(log.entries == ["B stopped", "A stopped", "C stopped"])
    }

    @Test func aStopFromTheThreadItselfEndsIt() throws {
        let log = EventLog()
        let thread = try UVRunLoop.Thread()
        thread.runLoop.perform {
            UVRunLoop.Thread.current?.stop()
            log.note("\(UVRunLoop.current.run(mode: .default, for: nil))")
        }
        thread.join()
        #expect(log.entries == ["stopped"])
    }

    @Test func severalStopsAndOneAfterTheEndDoNoHarm() throws {
        let thread = try UVRunLoop.Thread()
        for _ in 0..<10 { thread.stop() }
        thread.join()
        thread.stop()
        thread.stop(afterQueuedWork: false)
        thread.join()
    }

    // MARK: Queued work

    @Test func queuedWorkIsFinishedWhenAskedFor() throws {
        let log = EventLog()
        let thread = try blockedThread { thread in
            for number in 0..<100 {
                thread.runLoop.perform { log.note("block \(number)") }
                thread.runLoop.requestPerform { log.note("request \(number)") }
            }
            thread.runLoop.perform(inModes: [UVRunLoop.Mode("X")]) { log.note("never") }
            thread.runLoop.requestPerform(inModes: [UVRunLoop.Mode("X")]) { log.note("never") }
            thread.runLoop.requestPerform(after: .seconds(3600)) { log.note("never") }
            thread.stop(afterQueuedWork: true)
        }
        thread.join()
        let blocks = log.entries.filter { $0.hasPrefix("block") }
        let requests = log.entries.filter { $0.hasPrefix("request") }
        #expect(blocks == (0..<100).map { "block \($0)" })
        #expect(requests == (0..<100).map { "request \($0)" })
        #expect(log.entries.count == 200)
    }

    @Test func queuedWorkIsFinishedThoughTheLoopHasNotRunYet() throws {
        let (log, goOn) = (EventLog(), Signal())
        let thread = try UVRunLoop.Thread { goOn.wait() }
        thread.runLoop.perform { log.note("block") }
        thread.runLoop.requestPerform { log.note("request") }
        thread.stop()
        goOn.send()
        thread.join()
        #expect(log.entries == ["block", "request"])
    }

    @Test func queuedWorkIsDroppedAndReleasedWhenNotAskedFor() throws {
        let (log, gone) = (EventLog(), EventLog())
        let thread = try blockedThread { thread in
            for _ in 0..<100 {
                thread.runLoop.perform { [witness = Witness("block", gone)] in
                    log.note("block")
                    withExtendedLifetime(witness) {}
                }
                thread.runLoop.requestPerform { [witness = Witness("request", gone)] in
                    log.note("request")
                    withExtendedLifetime(witness) {}
                }
            }
            thread.stop(afterQueuedWork: false)
        }
        thread.join()
        #expect(log.entries == [])
        #expect(gone.entries.count == 200)
    }

    @Test func nothingOfABatchThatHasBegunBeginsAfterAStopThatGivesItUp() throws {
        let (log, goOn) = (EventLog(), Signal())
        let thread = try UVRunLoop.Thread { goOn.wait() }
        thread.runLoop.perform { log.note("block 1") }
        thread.runLoop.perform { thread.stop(afterQueuedWork: false) }
        thread.runLoop.perform { log.note("block 2") }
        thread.runLoop.requestPerform { log.note("request") }
        goOn.send()
        thread.join()
        #expect(log.entries == ["block 1"])
    }

    @Test func noDelayedRequestBeginsAfterAStopThatGivesQueuedWorkUp() throws {
        let (log, gone) = (EventLog(), EventLog())
        let thread = try blockedThread { thread in
            thread.runLoop.requestPerform(after: .zero) { thread.stop(afterQueuedWork: false) }
            for delay in [Duration.zero, .nanoseconds(1)] {
                thread.runLoop.requestPerform(after: delay) {
                    [witness = Witness("request", gone)] in
                    log.note("request")
                    withExtendedLifetime(witness) {}
                }
            }
        }
        thread.join()
        #expect(log.entries == [])
        #expect(gone.entries.count == 2)
    }

    @Test func aSecondStopMayGiveUpWhatTheFirstWouldFinish() throws {
        let log = EventLog()
        let thread = try blockedThread { thread in
            thread.runLoop.requestPerform { thread.stop(afterQueuedWork: false) }
            thread.runLoop.requestPerform { log.note("dropped") }
            thread.stop(afterQueuedWork: true)
            thread.stop(afterQueuedWork: true)
        }
        thread.join()
        #expect(log.entries == [])
    }

    @Test func runsNestedInTheLastWorkEndAtOnce() throws {
        let log = EventLog()
        let thread = try blockedThread { thread in
            thread.runLoop.requestPerform {
                log.note("\(UVRunLoop.current.run(mode: .default, for: nil))")
            }
            thread.runLoop.requestPerform { log.note("next") }
            thread.stop()
        }
        thread.join()
        #expect(log.entries == ["stopped", "next"])
    }

    // MARK: At every moment

    @Test func aThousandThreadsStoppedAtRandomMomentsAllEnd() throws {
        var random = SeededGenerator(seed: 4)
        let log = EventLog()
        var expected = 0
        let count = isUnderThreadSanitizer ? 200 : 1000
        try withHangGuard(seconds: 300) {
            for _ in 0..<count {
                let thread = try randomThread(&random, log)
                let (delay, finishes) = (UInt32.random(in: 0..<150, using: &random), random.coin())
                if delay > 20 { usleep(delay) }
                if finishes {
                    thread.runLoop.requestPerform { log.note("") }
                    expected += 1
                }
                thread.stop(afterQueuedWork: finishes)
                if random.coin() { thread.join() }
                if finishes { thread.join() }
            }
        }
        #expect(log.entries.count == expected)
    }
}

/// A thread that may be busy with any of the things that a stop has to end.
private func randomThread(
    _ random: inout SeededGenerator,
    _ log: EventLog
) throws -> UVRunLoop.Thread {
    let pause = UInt32.random(in: 0..<100, using: &random)
    let thread = try UVRunLoop.Thread { if pause > 50 { usleep(pause) } }
    let loop = thread.runLoop
    if random.coin() { loop.stop() }
    if random.coin() {
        loop.perform { UVRunLoop.current.run(mode: .default, for: nil) }
    }
    if random.coin() {
        loop.requestPerform {
            let loop = UVRunLoop.current
            loop.add(UVRunLoop.Source { _ in }, forMode: .eventTracking)
            loop.run(mode: .eventTracking, for: nil)
        }
    }
    if random.coin() {
        let timer = UVRunLoop.Timer(
            after: .zero,
            interval: .microseconds(30),
            sendableHandler: { _ in UVRunLoop.current.stop() }
        )
        loop.add(timer, forMode: .default)
    }
    return thread
}

/// A thread whose loop is busy until a body has prepared what comes next.
private func blockedThread(
    _ body: (UVRunLoop.Thread) -> Void
) throws -> UVRunLoop.Thread {
    let (isBusy, goOn) = (Signal(), Signal())
    let thread = try UVRunLoop.Thread()
    thread.runLoop.requestPerform {
        isBusy.send()
        goOn.wait()
    }
    isBusy.wait()
    body(thread)
    goOn.send()
    return thread
}
