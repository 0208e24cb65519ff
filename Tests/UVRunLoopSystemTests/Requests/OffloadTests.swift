import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopSystem

private typealias Offload = UVRunLoop.Offload

private struct Refusal: Error {}

/// Work on the pool, and its result on the loop.
@Suite(.timeLimit(.minutes(15))) struct OffloadTests {
    @Test func workRunsElsewhereAndItsValueArrivesHere() throws {
        try withLoop { loop in
            let here = ThreadIdentity.current
            let value = Box<Int?>(nil)
            let offload = try Offload {
                #expect(ThreadIdentity.current != here)
                return 42
            } handler: { source, result in
                #expect(ThreadIdentity.current == here && source.isValid)
                value.value = try? result.get()
            }
            loop.add(offload, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(value.value == 42)
            #expect(!offload.isValid && !loop.contains(offload, forMode: .default))
        }
    }

    /// libuv's destructor joins the threads of the pool, the calling one too.
    @Test func workMayExit() async {
        await #expect(processExitsWith: .exitCode(3)) {
            try awaitWork([{ exit(3) }])
        }
    }

    /// The one thread holds the lock of its stream, the other is not waited for.
    @Test func workMayExitWhileAnotherThreadWaitsForInput() async {
        await #expect(processExitsWith: .exitCode(5)) {
            setenv("UV_THREADPOOL_SIZE", "4", 1)
            let pipe = Pipe()
            precondition(dup2(pipe.readEnd, 0) == 0)
            let reader = startThread { _ = readLine() }
            try awaitWork([{ pause() }, { exit(5) }])
            withExtendedLifetime(reader) {}
        }
    }

    /// It has none of the threads.
    @Test func aForkedChildOfAProcessWithAPoolMayExit() async {
        await #expect(processExitsWith: .success) {
            try awaitWork([{}])
            let child = startChild { exit(7) }
            precondition(awaitEnd(of: child) == 7)
        }
    }

    @Test func theExitHandlersAreCalledWhenWorkExits() async {
        let result = await #expect(
            processExitsWith: .exitCode(4),
            observing: [\.standardOutputContent]
        ) {
            atexit { print("handled") }
            try awaitWork([{ exit(4) }])
        }
        let output = result.map { String(decoding: $0.standardOutputContent, as: UTF8.self) }
        #expect(output?.contains("handled") == true)
    }

    @Test func theErrorOfTheWorkArrives() throws {
        try withLoop { loop in
            let failed = Box(false)
            let offload = try Offload<Int> {
                throw Refusal()
            } handler: { _, result in
                if case .failure(let error) = result { failed.value = error is Refusal }
            }
            loop.add(offload, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
            #expect(failed.value)
        }
    }

    @Test func aResultIsASourceHandled() throws {
        try withLoop { loop in
            loop.add(
                try Offload {
                    1
                } handler: { _, _ in
                },
                forMode: .default
            )
            let result = loop.run(
                mode: .default,
                for: .seconds(60),
                returnAfterSourceHandled: true
            )
            #expect(result == .handledSource)
        }
    }

    @Test func aResultWaitsForItsMode() throws {
        try withLoop { loop in
            let mode = UVRunLoop.Mode(rawValue: "later")
            let log = EventLog()
            let done = Signal()
            let offload = try Offload {
                done.send()
            } handler: { _, _ in
                log.note("result")
            }
            loop.add(offload, forMode: mode)
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            done.wait()
            log.observe(loop, [.afterWaiting])
            #expect(loop.run(mode: .default, for: .milliseconds(20)) == .timedOut)
            // One sleep, which the other mode's result did not end.
            #expect(log.entries == ["afterWaiting"])
            #expect(loop.run(mode: mode, for: .seconds(60)) == .finished)
            #expect(log.entries == ["afterWaiting", "result"])
        }
    }

    @Test func aResultThatCameBeforeTheSourceWasAddedIsDelivered() throws {
        try withLoop { loop in
            let log = EventLog()
            let offload = try Offload {
                1
            } handler: { _, _ in
                log.note("result")
            }
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(20))
            #expect(log.entries.isEmpty)
            loop.add(offload, forMode: .modalPanel)
            #expect(loop.run(mode: .modalPanel, for: .seconds(60)) == .finished)
            #expect(log.entries == ["result"])
        }
    }

    @Test func resultsComeOnePerPass() throws {
        try withLoop { loop in
            let log = EventLog()
            let offloads = try (1...3).map { number in
                try Offload {
                    number
                } handler: { _, _ in
                    log.note("result")
                }
            }
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(50))
            keeper.invalidate()
            for offload in offloads { loop.add(offload, forMode: .default) }
            log.observe(loop, [.beforeSources])
            loop.run(mode: .default, for: .seconds(60))
            let passes = log.entries.split(separator: "beforeSources")
            #expect(passes.allSatisfy { $0.count == 1 } && passes.count == 3)
        }
    }

    @Test func theHandlerMayRunTheLoopAndOffloadMore() throws {
        try withLoop { loop in
            let log = EventLog()
            let outer = try Offload {
                1
            } handler: { _, _ in
                log.note("outer")
                let inner = try? Offload {
                    2
                } handler: { _, _ in
                    log.note("inner")
                }
                guard let inner else { return }
                loop.add(inner, forMode: .modalPanel)
                loop.run(mode: .modalPanel, for: .seconds(60))
                log.note("back")
            }
            loop.add(outer, forMode: .default)
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(log.entries == ["outer", "inner", "back"])
        }
    }

    @Test func aBusyLoopIsToldTheResult() throws {
        try withLoop { loop in
            let isDone = Box(false)
            let offload = try Offload {
                1
            } handler: { _, _ in
                isDone.value = true
            }
            loop.add(offload, forMode: .default)
            func goOn() {
                if !isDone.value { loop.performLocally(goOn) }
            }
            goOn()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(isDone.value)
        }
    }

    // MARK: Cancelling

    @Test func invalidatedWorkIsNeverDoneAndItsHandlerReleased() throws {
        try withLoop { loop in
            // The pool is busy, so that the work stays queued.
            let gate = Signal()
            try occupyPool(of: loop, until: gate)
            let count = SharedBox(0)
            weak var captured: EventLog?
            do {
                let log = EventLog()
                captured = log
                let offload = try Offload {
                    count.value += 1
                } handler: { _, _ in
                    log.note("")
                }
                loop.add(offload, forMode: .default)
                offload.invalidate()
                #expect(!offload.isValid)
            }
            #expect(captured == nil)
            gate.send()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(count.value == 0)
        }
    }

    @Test func workInProgressIsNotAwaitedByAnInvalidatedSource() throws {
        try withLoop { loop in
            let (begun, gate) = (Signal(), Signal())
            let offload = try Offload {
                begun.send()
                gate.wait()
            } handler: { _, _ in
                Issue.record("The result was to be dropped.")
            }
            loop.add(offload, forMode: .default)
            begun.wait()
            offload.invalidate()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            gate.send()
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            loop.run(mode: .default, for: .milliseconds(10))
        }
    }

    @Test func aSourceThatIsDroppedIsCancelled() throws {
        try withLoop { loop in
            let gate = Signal()
            try occupyPool(of: loop, until: gate)
            let count = SharedBox(0)
            _ = try Offload {
                count.value += 1
            } handler: { _, _ in
            }
            gate.send()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(count.value == 0)
        }
    }

    @Test func invalidatingFromAnotherThreadDropsTheResult() throws {
        try withLoop { loop in
            for _ in 0..<50 {
                let offload = try Offload {
                    1
                } handler: { _, _ in
                }
                loop.add(offload, forMode: .default)
                let thread = startThread { offload.invalidate() }
                #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
                thread.join()
            }
        }
    }

    // MARK: The end of the loop

    @Test func aThreadThatEndsDoesNotWaitForWorkInProgress() throws {
        let (begun, gate) = (Signal(), Signal())
        let released = Signal()
        let thread = startThread {
            let farewell = Farewell { released.send() }
            let offload = try? Offload {
                begun.send()
                gate.wait()
                withExtendedLifetime(farewell) {}
            } handler: { _, _ in
                Issue.record("The loop has ended.")
            }
            guard let offload else { return }
            UVRunLoop.current.add(offload, forMode: .default)
            begun.wait()
        }
        // With the work still in progress.
        thread.join()
        gate.send()
        released.wait()
    }

    @Test func anEndedLoopLeavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            inQuietProcess {
                let gate = Signal()
                startThread { useLoopOnce() }.join()
                let before = openDescriptorCount()
                for _ in 0..<5 {
                    let thread = startThread {
                        let busy = (0..<6).compactMap { _ in
                            try? Offload {
                                gate.wait()
                            } handler: { _, _ in
                            }
                        }
                        for offload in busy { UVRunLoop.current.add(offload, forMode: .default) }
                        // One that is in no mode.
                        _ = Unmanaged.passRetained(busy[0])
                        UVRunLoop.current.run(mode: .default, for: .milliseconds(1))
                    }
                    thread.join()
                }
                gate.send()
                precondition(awaitCondition(pause: 1_000) { openDescriptorCount() == before })
            }
        }
    }

    @Test func aThousandCancelledRequestsLeaveNoDescriptor() throws {
        try withLoop { loop in
            let keeper = UVRunLoop.Source { _ in }
            loop.add(keeper, forMode: .default)
            loop.add(
                try Offload {
                    1
                } handler: { _, _ in
                    loop.stop()
                },
                forMode: .default
            )
            loop.run(mode: .default, for: .seconds(60))
            let gate = Signal()
            let busy = try (0..<8).map { _ in
                try Offload {
                    gate.wait()
                } handler: { _, _ in
                }
            }
            let count = SharedBox(0)
            for _ in 0..<1_000 {
                let offload = try Offload {
                    count.value += 1
                } handler: { _, _ in
                }
                loop.add(offload, forMode: .default)
                offload.invalidate()
            }
            for offload in busy { loop.add(offload, forMode: .default) }
            keeper.invalidate()
            gate.send()
            #expect(loop.run(mode: .default, for: .seconds(60)) == .finished)
            #expect(count.value == 0)
        }
    }
}

/// Runs the calling thread's loop until the pool has done some work.
private func awaitWork(_ work: [@Sendable () -> Void]) throws {
    let loop = UVRunLoop.current
    for work in work { loop.add(try Offload(work: work) { _, _ in }, forMode: .default) }
    loop.run()
}
