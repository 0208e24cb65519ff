import Glibc
import Testing
import UVRunLoop

/// Waits for another thread that have a limit: what they return, and what becomes of the work.
@Suite(.timeLimit(.minutes(15))) struct WaitLimitTests {
    // MARK: performAndWait

    @Test func aWaitThatIsAnsweredInTimeReturnsTheResult() throws {
        let worker = try UVRunLoop.Thread()
        let answer = try worker.runLoop.performAndWait(limit: .seconds(900)) { 42 }
        #expect(answer == 42)
        worker.stop()
        worker.join()
    }

    @Test(arguments: [Duration.milliseconds(20), .zero, .seconds(-1)])
    func workThatHasNotBegunAtTheLimitIsWithdrawn(limit: Duration) throws {
        let (busy, log) = (try BusyWorker(), EventLog())
        let start = SuspendingClock.now
        #expect(throws: UVRunLoop.PerformError.timedOut(hasBegun: false)) {
            try busy.loop.performAndWait(target: Witness("target", log), limit: limit) {
                log.note("never")
            }
        }
        #expect(start.duration(to: .now) >= limit)
        #expect(log.entries == ["target gone"])
        busy.end()
        #expect(log.entries == ["target gone"])
    }

    @Test func withdrawnWorkLeavesNothingInItsMode() throws {
        let (handover, ready, goOn) = (SharedBox<UVRunLoop?>(nil), Signal(), Signal())
        let results = SharedBox<[UVRunLoop.RunResult]>([])
        let thread = startThread {
            let loop = UVRunLoop.current
            handover.value = loop
            ready.send()
            goOn.wait()
            results.value.append(loop.run(mode: .default, for: nil))
        }
        ready.wait()
        let loop = try #require(handover.value)
        #expect(throws: UVRunLoop.PerformError.timedOut(hasBegun: false)) {
            try loop.performAndWait(limit: .milliseconds(1)) {}
        }
        goOn.send()
        thread.join()
        #expect(results.value == [.finished])
    }

    @Test func workThatHasBegunGoesOnAndItsResultIsReleasedThere() throws {
        let (worker, log) = (try UVRunLoop.Thread(), EventLog())
        let (hasBegun, goOn) = (Signal(), Signal())
        let request = startThread {
            // On a busy machine the limit may pass before the work begins.
            var failure = UVRunLoop.PerformError.timedOut(hasBegun: false)
            while failure == .timedOut(hasBegun: false) {
                do {
                    _ = try worker.runLoop.performAndWait(limit: .milliseconds(20)) {
                        hasBegun.send()
                        goOn.wait()
                        log.note("done")
                        return Witness("result", log)
                    }
                    return log.note("returned")
                } catch {
                    failure = error as? UVRunLoop.PerformError ?? .cancelled
                }
            }
            log.note("\(failure)")
        }
        hasBegun.wait()
        request.join()
        #expect(log.entries == ["\(UVRunLoop.PerformError.timedOut(hasBegun: true))"])
        goOn.send()
        worker.stop()
        worker.join()
        #expect(log.entries.dropFirst() == ["done", "result gone"])
    }

    @Test func aLimitThatCoincidesWithTheWorkLosesNothing() throws {
        let worker = try UVRunLoop.Thread()
        let (performed, counts) = (SharedBox(0), SharedBox([0, 0, 0]))
        let loop = worker.runLoop
        for number in 0..<3_000 {
            do {
                try loop.performAndWait(limit: .microseconds(number % 60)) { performed.value += 1 }
                counts.value[0] += 1
            } catch UVRunLoop.PerformError.timedOut(let hasBegun) {
                counts.value[hasBegun ? 1 : 2] += 1
            }
        }
        worker.stop()
        worker.join()
        #expect(counts.value.reduce(0, +) == 3_000)
        #expect(performed.value == counts.value[0] + counts.value[1])
    }

    @Test(arguments: DriverKind.allCases)
    func onTheLoopsOwnThreadTheLimitDoesNotMatter(kind: DriverKind) throws {
        try withLoop(kind) { loop, _ in
            let result = try loop.performAndWait(limit: .zero) { 1 }
            #expect(result == 1)
        }
    }

    @Test func aLimitForTheMainThreadIsKept() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                // The loop of the main thread does not run.
                _ = UVRunLoop.main
                let thread = startThread {
                    do {
                        try UVRunLoop.performOnMainAndWait(limit: .milliseconds(1)) {}
                        preconditionFailure("Nobody performed it.")
                    } catch {
                        precondition("\(error)".contains("not begun"), "\(error)")
                    }
                }
                thread.join()
            }
        }
    }

    // MARK: The end of a thread

    @Test func joiningWithALimitSaysWhetherTheThreadHasEnded() throws {
        let busy = try BusyWorker()
        let start = SuspendingClock.now
        #expect(!busy.worker.join(limit: .milliseconds(20)))
        #expect(start.duration(to: .now) >= .milliseconds(20))
        #expect(!busy.worker.join(limit: .zero))
        busy.release()
        busy.worker.stop()
        #expect(busy.worker.join(limit: .seconds(900)))
        #expect(busy.worker.join(limit: .zero))
        busy.worker.join()
    }

    @Test func aJoinWithoutALimitOutlastsOneWithIt() throws {
        let busy = try BusyWorker()
        let log = EventLog()
        let joiners = (0..<8).map { number in
            startThread {
                if number.isMultiple(of: 2) {
                    log.note("\(busy.worker.join(limit: .milliseconds(number)))")
                } else {
                    busy.worker.join()
                    log.note("ended")
                }
            }
        }
        while log.count < 4 { usleep(1_000) }
        #expect(log.entries == Array(repeating: "false", count: 4))
        busy.release()
        busy.worker.stop()
        for joiner in joiners { joiner.join() }
        #expect(log.entries.dropFirst(4) == ["ended", "ended", "ended", "ended"])
    }

    @Test func aStopWithALimitPerformsWhatIsQueuedFirst() throws {
        let (worker, log) = (try UVRunLoop.Thread(), EventLog())
        worker.runLoop.perform { log.note("block") }
        worker.stop(limit: .seconds(900))
        worker.join()
        #expect(log.entries == ["block"])
    }

    /// Blocks and requests alike.
    @Test func aStopWithALimitDropsWhatHasNotBegunAtTheLimit() throws {
        let (busy, log) = (try BusyWorker(), EventLog())
        for _ in 0..<3 {
            busy.loop.perform { log.note("block") }
            busy.loop.requestPerform { log.note("request") }
        }
        busy.worker.stop(limit: .milliseconds(1))
        usleep(2_000)
        busy.release()
        busy.worker.join()
        #expect(log.entries == [])
    }

    @Test func ofTwoLimitsOfAStopTheFirstCounts() throws {
        let (busy, log) = (try BusyWorker(), EventLog())
        busy.loop.perform { log.note("block") }
        busy.worker.stop(limit: .milliseconds(1))
        busy.worker.stop(limit: .seconds(900))
        usleep(2_000)
        busy.release()
        busy.worker.join()
        #expect(log.entries == [])
    }
}

/// A thread whose loop is within a block until it is released.
private final class BusyWorker: Sendable {
    let worker: UVRunLoop.Thread
    private let goOn = Signal()

    var loop: UVRunLoop { worker.runLoop }

    init() throws {
        worker = try UVRunLoop.Thread()
        let (isBusy, goOn) = (Signal(), goOn)
        worker.runLoop.perform {
            isBusy.send()
            goOn.wait()
        }
        isBusy.wait()
    }

    func release() { goOn.send() }

    func end() {
        release()
        worker.stop()
        worker.join()
    }
}
