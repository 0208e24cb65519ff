import Glibc
import Testing
import UVRunLoop

/// Threads that wait for a request: what they get, and that none waits for ever.
@Suite(.timeLimit(.minutes(15))) struct PerformAndWaitTests {
    @Test func aWaiterGetsWhatTheBlockReturnsFromTheLoopsThread() throws {
        let worker = try UVRunLoop.Thread()
        let loop = worker.runLoop
        let answer = try loop.performAndWait { UVRunLoop.current === loop ? 42 : 0 }
        #expect(answer == 42)
        worker.stop()
        worker.join()
    }

    @Test func aWaiterGetsTheErrorThatTheBlockThrows() throws {
        let worker = try UVRunLoop.Thread()
        #expect(throws: Trouble.that) {
            try worker.runLoop.performAndWait { throw Trouble.that }
        }
        worker.stop()
        worker.join()
    }

    @Test(arguments: DriverKind.allCases)
    func onTheLoopsOwnThreadTheBlockRunsAtOnce(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            loop.requestPerform { log.note("queued") }
            let mode = try loop.performAndWait { loop.currentMode }
            #expect(mode == nil)
            #expect(log.entries == [])
            #expect(throws: Trouble.that) { try loop.performAndWait { throw Trouble.that } }
            loop.run(mode: .default, for: .zero)
            #expect(log.entries == ["queued"])
        }
    }

    @Test func aWaiterIsServedWhileTheLoopRunsInAnyCommonMode() throws {
        let mode = UVRunLoop.Mode("X")
        let worker = try UVRunLoop.Thread()
        worker.runLoop.addCommonMode(mode)
        worker.runLoop.requestPerform {
            let loop = UVRunLoop.current
            loop.add(UVRunLoop.Source { _ in }, forMode: mode)
            loop.run(mode: mode, for: nil)
        }
        let served = try worker.runLoop.performAndWait { UVRunLoop.current.currentMode }
        #expect(served == mode || served == .default)
        let again = try worker.runLoop.performAndWait { UVRunLoop.current.currentMode }
        #expect(again == mode)
        worker.stop()
        worker.join()
    }

    @Test func aThousandWithoutWaitingAreDoneBeforeTheOneThatIsWaitedFor() throws {
        let (log, worker) = (EventLog(), try UVRunLoop.Thread())
        let loop = worker.runLoop
        for number in 0..<1000 {
            loop.requestPerform { log.note(UVRunLoop.current === loop ? "\(number)" : "?") }
        }
        try loop.performAndWait { log.note("last") }
        #expect(log.entries == (0..<1000).map { "\($0)" } + ["last"])
        worker.stop()
        worker.join()
    }

    @Test func aThousandWaitsAreEachOverWhenTheyReturn() throws {
        let (log, worker) = (EventLog(), try UVRunLoop.Thread())
        for number in 1...1000 {
            try worker.runLoop.performAndWait { log.note("") }
            #expect(log.entries.count == number)
        }
        worker.stop()
        worker.join()
    }

    @Test func whatTheBlockCapturedIsReleasedWhenTheWaitIsOver() throws {
        let (log, worker) = (EventLog(), try UVRunLoop.Thread())
        for _ in 1...100 { try worker.runLoop.performAndWait(witnessed(log)) }
        #expect(log.entries == Array(repeating: "block gone", count: 100))
        worker.stop()
        worker.join()
    }

    @Test func aWaitForALoopThatDoesNotRunYetEndsWhenItRuns() throws {
        let (handover, ready, log) = (SharedBox<UVRunLoop?>(nil), Signal(), EventLog())
        let thread = startThread {
            let loop = UVRunLoop.current
            handover.value = loop
            ready.send()
            // Nothing but the request keeps the mode from being empty.
            while log.entries.isEmpty { loop.run(mode: .default, for: nil) }
        }
        ready.wait()
        let answer = try handover.value?.performAndWait {
            log.note("performed")
            return 7
        }
        #expect(answer == 7)
        thread.join()
    }

    // MARK: Threads that end, or never run

    @Test func aWaiterGetsAnErrorWhenTheThreadEndsWithoutRunningItsLoop() throws {
        let (handover, ready, log) = (SharedBox<UVRunLoop?>(nil), Signal(), EventLog())
        let thread = startThread {
            handover.value = UVRunLoop.current
            ready.send()
            usleep(5000)
        }
        ready.wait()
        #expect(throws: UVRunLoop.PerformError.threadEnded) {
            try handover.value?.performAndWait(target: Witness("target", log)) { log.note("never") }
        }
        thread.join()
        #expect(throws: UVRunLoop.PerformError.threadEnded) {
            try handover.value?.performAndWait { log.note("never") }
        }
        #expect(log.entries == ["target gone"])
    }

    @Test func everyWaiterOfAThreadThatEndsGetsAnAnswer() throws {
        for round in 0..<50 {
            let worker = try UVRunLoop.Thread()
            let log = EventLog()
            let waiters = (0..<4).map { _ in
                startThread {
                    do {
                        for _ in 0..<10_000_000 { try worker.runLoop.performAndWait {} }
                    } catch {
                        log.note("\(error)")
                    }
                }
            }
            usleep(UInt32(round * 20))
            worker.stop(afterQueuedWork: round.isMultiple(of: 2))
            for waiter in waiters { waiter.join() }
            worker.join()
            let sentence = "\(UVRunLoop.PerformError.threadEnded)"
            #expect(log.entries == Array(repeating: sentence, count: 4))
        }
    }

    @Test func aWaiterGetsAnErrorWhenTheBlockItselfEndsTheThread() throws {
        let (handover, ready) = (SharedBox<UVRunLoop?>(nil), Signal())
        let thread = startThread {
            handover.value = UVRunLoop.current
            UVRunLoop.current.add(UVRunLoop.Source { _ in }, forMode: .default)
            ready.send()
            UVRunLoop.current.run()
        }
        ready.wait()
        #expect(throws: UVRunLoop.PerformError.threadEnded) {
            try handover.value?.performAndWait { pthread_exit(nil) }
        }
        thread.join()
    }

    /// The guide's Listing 3-6: a source that leaves its loop has its clients told.
    @Test func aCancelHandlerMayWaitForAnotherThreadAtTheEndOfItsOwn() throws {
        let (log, delegate, worker) = (EventLog(), try UVRunLoop.Thread(), try UVRunLoop.Thread())
        let source = UVRunLoop.Source(
            cancel: { _, _ in
                let answer = try? delegate.runLoop.performAndWait { "removed by the delegate" }
                log.note(answer ?? "no answer")
            },
            sendablePerform: { _ in }
        )
        worker.runLoop.add(source, forMode: .default)
        worker.stop()
        worker.join()
        #expect(log.entries == ["removed by the delegate"])
        delegate.stop()
        delegate.join()
    }

    @Test func twoThreadsThatWaitForEachOtherWhileOneEndsDoNotHang() throws {
        let (log, delegate, worker) = (EventLog(), try UVRunLoop.Thread(), try UVRunLoop.Thread())
        let source = UVRunLoop.Source(
            cancel: { _, _ in
                let answer = try? delegate.runLoop.performAndWait { "served" }
                log.note(answer ?? "no answer")
            },
            sendablePerform: { _ in }
        )
        worker.runLoop.add(source, forMode: .default)
        let (isBusy, goOn) = (Signal(), Signal())
        worker.runLoop.perform {
            isBusy.send()
            goOn.wait()
        }
        isBusy.wait()
        delegate.runLoop.requestPerform {
            worker.stop(afterQueuedWork: false)
            goOn.send()
            do {
                try worker.runLoop.performAndWait {}
            } catch {
                log.note("\(error)")
            }
        }
        worker.join()
        #expect(log.entries == ["\(UVRunLoop.PerformError.threadEnded)", "served"])
        delegate.stop()
        delegate.join()
    }

    // MARK: Cancelled

    @Test func aWaiterWhoseRequestIsCancelledGetsAnError() throws {
        let (log, target, worker) = (
            EventLog(), Witness("target", EventLog()), try UVRunLoop.Thread()
        )
        let (isBusy, goOn) = (Signal(), Signal())
        worker.runLoop.requestPerform {
            isBusy.send()
            goOn.wait()
        }
        isBusy.wait()
        let waiter = startThread {
            do {
                try worker.runLoop.performAndWait(target: target, key: 1) { log.note("never") }
            } catch {
                log.note("\(error)")
            }
        }
        while worker.runLoop.cancelPerformRequests(target: target, key: 1) == 0 { usleep(100) }
        waiter.join()
        #expect(log.entries == ["\(UVRunLoop.PerformError.cancelled)"])
        goOn.send()
        worker.stop()
        worker.join()
    }

    // MARK: The main thread

    @Test func requestsOnTheMainThreadRunThere() async {
        await #expect(processExitsWith: .success) {
            // First in the parent: what the runtime makes at the first use, two threads of a forked
            // child may wait for without end.
            onAnotherThread { performOnTheThread(of: .current) }
            let status = inChild {
                // Its only thread is its main one.
                performOnTheThread(of: .main)
                return 0
            }
            precondition(status == 0, "The process ended with \(status).")
        }
    }
}

private enum Trouble: Error { case that }

private func witnessed(_ log: EventLog) -> @Sendable () -> Void {
    let witness = Witness("block", log)
    return { withExtendedLifetime(witness) {} }
}

/// Has requests performed by the loop of the calling thread.
private func performOnTheThread(of loop: UVRunLoop) {
    let log = EventLog()
    precondition(loop === UVRunLoop.current)
    try? loop.performAndWait { log.note("at once") }
    let thread = startThread {
        loop.requestPerform { log.note("from afar") }
        let answer = try? loop.performAndWait { UVRunLoop.current === loop ? "there" : "elsewhere" }
        log.note(answer ?? "no answer")
        loop.requestPerform { loop.stop() }
    }
    loop.add(UVRunLoop.Source { _ in }, forMode: .default)
    precondition(loop.run(mode: .default, for: .seconds(60)) == .stopped)
    thread.join()
    precondition(log.entries == ["at once", "from afar", "there"], "\(log.entries)")
}
