import Glibc
import TestSupport
import Testing
import UVRunLoop
import UVRunLoopTesting

/// Waits that would never end.
@Suite(.timeLimit(.minutes(15))) struct LimitTests {
    /// The message of a process that traps.
    private func message(of result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func aLoopThatNobodyWakesIsNamedWithItsDescriptors() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            try waitForADescriptor()
        }
        let text = message(of: result)
        #expect(
            text.contains("the clock is 2 s after its start, and nobody has a date."),
            "\(text)"
        )
        #expect(text.contains("Loop 1 of the clock sleeps without a date, and waits for"))
        #expect(text.contains("to be readable."))
    }

    /// As with an interval timer, or a profiler; the process ends by itself if it is not trapped.
    @Test func signalsDoNotPutTheLimitOff() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            getSignals(every: 300_000, times: 50)
            try waitForADescriptor()
        }
        #expect(message(of: result).contains("and nobody has a date."))
    }

    @Test func anOpenHoldIsNamed() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            waitForAHold()
        }
        let text = message(of: result)
        let place = "the clock is 0 s after its start and is held in"
        #expect(text.contains("\(place) UVRunLoopTestingTests/LimitTests.swift:"), "\(text)")
        let loop = "The loop of the thread \"planner\" sleeps until 1.5 s"
        #expect(text.contains("\(loop), and watches no descriptor."))
    }

    @Test func aLoopThatDoesNotSleepIsNamed() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            try waitForALoopThatDoesNotRun()
        }
        let text = message(of: result)
        #expect(text.contains("and waits for a loop that is not asleep."), "\(text)")
        #expect(text.contains("The loop of the thread \"worker\" sleeps until 1 s"))
        #expect(text.contains("Loop 2 of the clock is not asleep: a handler runs, or nobody runs"))
    }

    @Test func aPlanThatWaitsForALoopIsNamed() async {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            try waitInAPlan()
        }
        let text = message(of: result)
        #expect(text.contains("after its start, and a planned action has not returned."), "\(text)")
    }

    @Test func aLoopThatMakesPassesIsNoHang() async {
        await #expect(processExitsWith: .success) { try makePasses() }
    }

    @Test func aClockWithoutALimitWaits() {
        let clock = UVRunLoop.VirtualClock(limit: nil)
        UVRunLoop.withVirtualLoop(clock: clock) { loop in
            let hold = clock.hold()
            let thread = startThread {
                awaitSleep(of: loop)
                sleepBriefly(times: 10)
                hold.release()
            }
            #expect(loop.runUntilIdle() == .finished)
            thread.join()
        }
    }
}

// MARK: Waits that never end

/// Long enough for a machine that stalls before the wait that never ends.
private let shortLimit = Duration.seconds(1)

private func waitForADescriptor() throws {
    let clock = UVRunLoop.VirtualClock(limit: shortLimit)
    try UVRunLoop.withVirtualLoop(clock: clock) { loop in
        let pipe = Pipe()
        let source = try UVRunLoop.DescriptorSource(pipe.readEnd, events: .readable) { _, _ in }
        loop.add(source, forMode: .default)
        loop.run(for: .seconds(2))
        loop.run()
    }
}

/// Has the calling thread interrupted, and in the end the process ended with success.
private func getSignals(every interval: useconds_t, times: Int) {
    signal(SIGALRM) { _ in }
    letThrough(SIGALRM)
    let thread = pthread_self()
    _ = startThread {
        for _ in 0..<times {
            usleep(interval)
            pthread_kill(thread, SIGALRM)
        }
        _exit(EXIT_SUCCESS)
    }
}

private func waitForAHold() {
    let clock = UVRunLoop.VirtualClock(limit: shortLimit)
    let hold = clock.hold()
    UVRunLoop.withVirtualLoop(clock: clock) { loop in
        loop.label = "planner"
        loop.add(UVRunLoop.Timer(after: .milliseconds(1_500)) { _ in }, forMode: .default)
        loop.run()
    }
    hold.release()
}

private func waitForALoopThatDoesNotRun() throws {
    let clock = UVRunLoop.VirtualClock(limit: shortLimit)
    let thread = try UVRunLoop.Thread(name: "worker", clock: clock)
    UVRunLoop.withVirtualLoop(clock: clock) { loop in
        thread.runLoop.requestPerform(after: .seconds(1)) { thread.stop() }
        // It waits for a date, and the clock for this thread to run its loop.
        thread.join()
    }
}

/// Keeps one loop busy beyond the limit, while another one sleeps.
private func makePasses() throws {
    // Long enough for a machine that stalls between two passes.
    let clock = UVRunLoop.VirtualClock(limit: .seconds(2))
    let other = try UVRunLoop.Thread(name: "other", clock: clock)
    UVRunLoop.withVirtualLoop(clock: clock) { loop in
        let end = ContinuousClock.now + .seconds(3)
        let source = UVRunLoop.Source { source in
            sleepBriefly(times: 5)
            if ContinuousClock.now < end { source.signal() } else { source.invalidate() }
        }
        loop.add(source, forMode: .default)
        source.signal()
        loop.run()
    }
    other.stop()
}

private func waitInAPlan() throws {
    let clock = UVRunLoop.VirtualClock(limit: shortLimit)
    let thread = try UVRunLoop.Thread(name: "worker", clock: clock)
    UVRunLoop.withVirtualLoop(clock: clock) { loop in
        clock.after(.seconds(1)) { try? thread.runLoop.performAndWait {} }
        loop.runUntilIdle()
    }
}
