import Glibc
import Testing

@testable import UVRunLoop

/// Ticks, signals and the readiness of descriptors as sequences.
@Suite(.timeLimit(.minutes(15))) struct SequenceTests {
    // MARK: Ticks

    @Test func ticksComeAtTheirDatesAndDoNotDrift() throws {
        try runTask { loop in
            let start = loop.clock.now
            var dates: [Duration] = []
            for await count in loop.ticks(every: .seconds(10)) {
                #expect(count == 1)
                dates.append(start.duration(to: loop.clock.now))
                try await loop.sleep(for: .seconds(3))
                if dates.count == 4 { break }
            }
            #expect(dates == [.seconds(10), .seconds(20), .seconds(30), .seconds(40)])
        }
    }

    @Test func tickTellsHowManyDatesItStandsFor() throws {
        try runTask { loop in
            let start = loop.clock.now
            var ticks = loop.ticks(every: .seconds(1)).makeAsyncIterator()
            #expect(await ticks.next() == 1)
            try await loop.sleep(for: .milliseconds(5_500))
            // Those of the seconds 2 to 6.
            #expect(await ticks.next() == 5)
            #expect(await ticks.next() == 1)
            #expect(start.duration(to: loop.clock.now) == .seconds(7))
        }
    }

    @Test(arguments: DriverKind.allCases)
    func datesAndTicksAreAsManyAfterAllKindsOfDelays(kind: DriverKind) throws {
        try runTask(kind) { loop in
            let start = loop.clock.now
            var count = 0
            var iterator = loop.ticks(every: .microseconds(500)).makeAsyncIterator()
            for delay in [0, 100, 700, 3_000, 0, 10, 2_500, 0] {
                count += await iterator.next() ?? 0
                if delay > 0 { try await loop.sleep(for: .microseconds(delay)) }
            }
            count += await iterator.next() ?? 0
            let passed = start.duration(to: loop.clock.now) / .microseconds(500)
            #expect(count <= Int(passed))
            #expect(count >= 8)
        }
    }

    @Test func ticksThatNobodyWaitsForWakeTheLoopOnce() throws {
        try withLoop(.manual) { loop, log in
            let ticks = loop.ticks(every: .seconds(1))
            // The first date takes the timer out of the mode.
            #expect(loop.run(mode: .default, for: nil) == .finished)
            try runTask(on: loop) {
                var iterator = ticks.makeAsyncIterator()
                #expect(await iterator.next() == 1)
                #expect(await iterator.next() == 1)
            }
            ticks.invalidate()
        }
    }

    // MARK: Signals

    @Test func signalsAreCountedFromTheInitialiserOn() async throws {
        let signal = SIGRTMIN_ + 7
        try await UVRunLoop.withThread { loop in
            let signals = try loop.signals(signal)
            for _ in 0..<5 { kill(getpid(), signal) }
            var iterator = signals.makeAsyncIterator()
            var count = 0
            while count < 5 { count += await iterator.next() ?? 5 }
            #expect(count == 5)
        }
    }

    /// The loop is busy when the signals arrive, and the sequence ends before they are served.
    @Test func signalsThatTheLoopHasNotServedAreTheLastElement() async throws {
        let signal = SIGRTMIN_ + 10
        try await UVRunLoop.withThread { loop in
            let (isBusy, mayGoOn, signals) = (Signal(), Signal(), try loop.signals(signal))
            async let counts = signals.reduce(into: []) { $0.append($1) }
            loop.perform {
                letThrough(signal)
                // Sent to the thread itself, each has arrived when this returns.
                for _ in 0..<3 { raise(signal) }
                isBusy.send()
                mayGoOn.wait()
            }
            isBusy.waitInTask()
            signals.invalidate()
            mayGoOn.send()
            let found = await counts
            #expect(found == [3])
        }
    }

    /// The loop's thread ends before it serves them.
    @Test func signalsThatArriveAtTheEndOfTheLoopAreTheLastElement() throws {
        let signal = SIGRTMIN_ + 11
        let signals = SharedBox<UVRunLoop.Signals?>(nil)
        startThread {
            letThrough(signal)
            signals.value = try? UVRunLoop.current.signals(signal)
            for _ in 0..<3 { raise(signal) }
        }.join()
        let sequence = try #require(signals.value)
        try runTask { _ in
            #expect(await first(of: sequence) == 3)
            #expect(await first(of: sequence) == nil)
        }
    }

    @Test func signalThatCannotBeWatchedIsRefused() async throws {
        try await UVRunLoop.withThread { loop in
            let error = #expect(throws: RunLoopError.self) { try loop.signals(SIGKILL) }
            #expect(error?.code == .signalNotWatchable)
        }
    }

    // MARK: Readiness

    @Test(arguments: DriverKind.allCases)
    func readinessFollowsTheDescriptor(kind: DriverKind) throws {
        try runTask(kind) { loop in
            let pipe = Pipe()
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            var iterator = readiness.makeAsyncIterator()
            for text in ["a", "bc", "def"] {
                pipe.write(text)
                #expect(await iterator.next() == .readable)
                #expect(pipe.read() == text)
            }
            pipe.closeWriteEnd()
            #expect(await iterator.next()?.contains(.hangUp) == true)
            readiness.invalidate()
            #expect(await iterator.next() == nil)
        }
    }

    @Test(arguments: DriverKind.allCases)
    func readyDescriptorThatNobodyWaitsForLeavesItsModeAndComesBack(kind: DriverKind) throws {
        try withLoop(kind) { loop, log in
            let pipe = Pipe()
            pipe.write("x")
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            log.observe(loop, .beforeTimers)
            // A loop that spins would not finish.
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(log.count <= 2)
            try runTask(on: loop) {
                var iterator = readiness.makeAsyncIterator()
                #expect(await iterator.next() == .readable)
                // Still unread, so it is ready again at once.
                #expect(await iterator.next() == .readable)
                #expect(pipe.read() == "x")
                pipe.write("y")
                #expect(await iterator.next() == .readable)
            }
        }
    }

    @Test(arguments: DriverKind.allCases, [false, true])
    func hangUpIsToldWheneverTheConsumerWaits(kind: DriverKind, isAwaited: Bool) throws {
        try runTask(kind) { loop in
            let pipe = Pipe()
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            let wait = Task(executorPreference: loop.taskExecutor) {
                isAwaited ? await first(of: readiness) : .hangUp
            }
            try await loop.sleep(for: .milliseconds(5))
            pipe.closeWriteEnd()
            #expect(await wait.value?.contains(.hangUp) == true)
            try await loop.sleep(for: .milliseconds(5))
            var iterator = readiness.makeAsyncIterator()
            for _ in 0..<3 { #expect(await iterator.next()?.contains(.hangUp) == true) }
        }
    }

    /// The descriptor is blocking again, and may be closed: its owner would wait for ever.
    @Test(arguments: DriverKind.allCases, [false, true])
    func anEventThatNobodyTookIsNotToldAfterTheEnd(kind: DriverKind, isHangUp: Bool) throws {
        try withLoop(kind) { loop, _ in
            let pipe = Pipe()
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            if isHangUp { pipe.closeWriteEnd() } else { pipe.write("x") }
            #expect(loop.run(mode: .default, for: nil) == .finished)
            readiness.invalidate()
            try runTask(on: loop) { #expect(await first(of: readiness) == nil) }
        }
    }

    /// A consumer that works between two reads finds `EAGAIN`, and does not block its loop.
    @Test func descriptorOfASequenceIsNonBlockingUntilTheSequenceEnds() throws {
        try withLoop(.uv) { loop, _ in
            let pipe = Pipe()
            let isNonBlocking = { fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK != 0 }
            #expect(!isNonBlocking())
            var readiness: UVRunLoop.Readiness? = try loop.readiness(of: pipe.readEnd, .readable)
            #expect(isNonBlocking())
            pipe.write("x")
            // Nobody waits for the event: the source leaves its modes.
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(isNonBlocking())
            readiness?.invalidate()
            #expect(!isNonBlocking())

            readiness = try loop.readiness(of: pipe.readEnd, .readable)
            let other = try loop.readiness(of: pipe.readEnd, .readable)
            readiness = nil
            #expect(isNonBlocking())
            other.invalidate()
            #expect(!isNonBlocking())
            withExtendedLifetime(readiness) {}
        }
    }

    @Test func descriptorOfASequenceIsBlockingAgainWhenTheLoopHasEnded() throws {
        let pipe = Pipe()
        let readiness = SharedBox<UVRunLoop.Readiness?>(nil)
        startThread {
            readiness.value = try? UVRunLoop.current.readiness(of: pipe.readEnd, .readable)
        }.join()
        #expect(readiness.value != nil)
        #expect(fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK == 0)
    }

    /// It is about to read, and expects `EAGAIN`.
    @Test func consumerWithAnElementKeepsTheDescriptorNonBlockingAfterTheEndOfTheLoop() throws {
        let (pipe, executor, isReady, mayRun) = (Pipe(), HeldExecutor(), Signal(), Signal())
        let readiness = SharedBox<UVRunLoop.Readiness?>(nil)
        let thread = startThread {
            let loop = UVRunLoop.current
            readiness.value = try? loop.readiness(of: pipe.readEnd, .readable)
            isReady.send()
            mayRun.wait()
            let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
            #expect(result == .handledSource)
        }
        isReady.wait()
        let sequence = try #require(readiness.value)
        let isDone = Signal()
        Task(executorPreference: executor) {
            #expect(await first(of: sequence) == .readable)
            #expect(fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK != 0)
            #expect(await first(of: sequence) == nil)
            #expect(fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK == 0)
            isDone.send()
        }
        executor.performNext()
        pipe.write("x")
        mayRun.send()
        thread.join()
        executor.release()
        isDone.wait()
    }

    @Test func elementThatWaitsKeepsTheDescriptorNonBlockingAfterTheEndOfTheLoop() throws {
        let pipe = Pipe()
        pipe.write("x")
        let readiness = SharedBox<UVRunLoop.Readiness?>(nil)
        startThread {
            let loop = UVRunLoop.current
            readiness.value = try? loop.readiness(of: pipe.readEnd, .readable)
            // Nobody waits for the event: the source leaves its modes.
            #expect(loop.run(mode: .default, for: nil) == .finished)
        }.join()
        #expect(fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK != 0)
        readiness.value = nil
        #expect(fcntl(pipe.readEnd, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func closedDescriptorIsRefused() async throws {
        try await UVRunLoop.withThread { loop in
            let error = #expect(throws: RunLoopError.self) {
                try loop.readiness(of: 9_999, .readable)
            }
            #expect(error?.code == .descriptorClosed)
        }
    }

    // MARK: Cancellation and ends

    @Test func cancellationEndsAWaitAndTheSequenceGoesOn() throws {
        try runTask { loop in
            let pipe = Pipe()
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            let ticks = loop.ticks(every: .seconds(1_000))
            let waits = [
                Task(executorPreference: loop.taskExecutor) {
                    var iterator = readiness.makeAsyncIterator()
                    return await iterator.next() == nil
                },
                Task(executorPreference: loop.taskExecutor) {
                    var iterator = ticks.makeAsyncIterator()
                    return await iterator.next() == nil
                },
            ]
            try await loop.sleep(for: .seconds(1))
            for wait in waits { wait.cancel() }
            for wait in waits { #expect(await wait.value) }
            pipe.write("x")
            var iterator = readiness.makeAsyncIterator()
            #expect(await iterator.next() == .readable)
        }
    }

    @Test func cancelledTaskGetsNothing() throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1))
            withUnsafeCurrentTask { unsafe $0?.cancel() }
            var iterator = ticks.makeAsyncIterator()
            #expect(await iterator.next() == nil)
        }
    }

    @Test func invalidationEndsAWait() throws {
        try runTask { loop in
            let ticks = loop.ticks(every: .seconds(1_000))
            let signals = try loop.signals(SIGRTMIN_ + 8)
            let wait = Task(executorPreference: loop.taskExecutor) {
                var iterator = ticks.makeAsyncIterator()
                return await iterator.next() == nil
            }
            let other = Task(executorPreference: loop.taskExecutor) {
                var iterator = signals.makeAsyncIterator()
                return await iterator.next() == nil
            }
            try await loop.sleep(for: .seconds(1))
            ticks.invalidate()
            signals.invalidate()
            #expect(await wait.value)
            #expect(await other.value)
            // Twice, and by the end of its life a third time.
            ticks.invalidate()
        }
    }

    @Test func sequencesThatNobodyAttendedEndWithTheLoop() async throws {
        let thread = try startLoopThread()
        let loop = thread.runLoop
        let pipe = Pipe()
        pipe.write("x")
        let ticks = loop.ticks(every: .milliseconds(1))
        let readiness = try loop.readiness(of: pipe.readEnd, .readable)
        let isAttending = {
            loop.nextFireDate(forMode: .default) != nil
                || !loop.withEngine { $0.ports(in: .default).isEmpty }
        }
        while isAttending() { usleep(1_000) }
        thread.stop()
        thread.joinInTask()
        var counts = ticks.makeAsyncIterator()
        #expect(await counts.next() ?? 0 >= 1)
        #expect(await counts.next() == nil)
        var events = readiness.makeAsyncIterator()
        #expect(await events.next() == .readable)
        #expect(await events.next() == nil)
    }

    @Test func endOfTheLoopEndsEverySequence() async throws {
        let thread = try startLoopThread()
        let (loop, pipe) = (thread.runLoop, Pipe())
        let ticks = loop.ticks(every: .seconds(1_000))
        let signals = try loop.signals(SIGRTMIN_ + 9)
        let readiness = try loop.readiness(of: pipe.readEnd, .readable)
        let port = UVRunLoop.Port()
        loop.add(port, forMode: .default)
        async let noTick = first(of: ticks) == nil
        async let noSignal = first(of: signals) == nil
        async let noEvents = first(of: readiness) == nil
        async let noMessage = first(of: port.messages) == nil
        try await loop.sleep(for: .milliseconds(5))
        thread.stop()
        let ended = await [noTick, noSignal, noEvents, noMessage]
        #expect(ended == [true, true, true, true])
        thread.joinInTask()
        // Those that come too late end at once.
        #expect(await first(of: loop.ticks(every: .seconds(1))) == nil)
        #expect(await first(of: try loop.readiness(of: pipe.readEnd, .readable)) == nil)
        #expect(await first(of: try loop.signals(SIGRTMIN_ + 9)) == nil)
    }

    @Test func secondConsumerTraps() async {
        await #expect(processExitsWith: .failure) {
            try runTask { loop in
                let ticks = loop.ticks(every: .seconds(1_000))
                for _ in 0..<2 {
                    Task(executorPreference: loop.taskExecutor) { await first(of: ticks) }
                }
                try await loop.sleep(for: .seconds(1))
            }
        }
    }

    @Test func hundredThousandCancelledWaitsLeaveNothing() throws {
        try withLoop(.manual) { loop, _ in
            try runTask(on: loop) {
                let pipe = Pipe()
                for _ in 0..<(isUnderThreadSanitizer ? 5 : 100) {
                    let waits = (0..<1_000).map { number in
                        Task(executorPreference: loop.taskExecutor) {
                            if number.isMultiple(of: 100) {
                                return await first(
                                    of: try loop.readiness(of: pipe.readEnd, .readable)
                                ) == nil
                            }
                            return await first(of: loop.ticks(every: .seconds(1_000))) == nil
                        }
                    }
                    await Task.yield()
                    for wait in waits { wait.cancel() }
                    for wait in waits {
                        let isOver = try await wait.value
                        #expect(isOver)
                    }
                }
            }
            #expect(loop.isEmpty(.default))
        }
    }

    @Test func waitsOfOtherThreadsRaceWithEventsAndCancellation() async throws {
        try await UVRunLoop.withThread { loop in
            let pipe = Pipe()
            let readiness = try loop.readiness(of: pipe.readEnd, .readable)
            for number in 0..<500 {
                let wait = Task { await first(of: readiness) }
                pipe.write("x")
                if number.isMultiple(of: 2) { wait.cancel() }
                _ = await wait.value
                _ = pipe.read()
            }
            pipe.write("last")
            #expect(await first(of: readiness) == .readable)
        }
    }
}

/// The first real-time signal; the C library keeps two for itself.
private let SIGRTMIN_: CInt = 34
