import Glibc
import Testing

@testable import UVRunLoop

/// The readiness of a descriptor as a sequence.
@Suite(.timeLimit(.minutes(15))) struct ReadinessSequenceTests {
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
            #expect(!isNonBlocking(pipe.readEnd))
            var readiness: UVRunLoop.Readiness? = try loop.readiness(of: pipe.readEnd, .readable)
            #expect(isNonBlocking(pipe.readEnd))
            pipe.write("x")
            // Nobody waits for the event: the source leaves its modes.
            #expect(loop.run(mode: .default, for: nil) == .finished)
            #expect(isNonBlocking(pipe.readEnd))
            readiness?.invalidate()
            #expect(!isNonBlocking(pipe.readEnd))

            readiness = try loop.readiness(of: pipe.readEnd, .readable)
            let other = try loop.readiness(of: pipe.readEnd, .readable)
            readiness = nil
            #expect(isNonBlocking(pipe.readEnd))
            other.invalidate()
            #expect(!isNonBlocking(pipe.readEnd))
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
        #expect(!isNonBlocking(pipe.readEnd))
    }

    /// Has the loop of a new thread watch a pipe, and run for one source whenever it may.
    private func watch(
        _ pipe: Pipe,
        _ mayRun: Signal,
        hasRun: Signal,
        runs: Int
    ) throws -> (sequence: UVRunLoop.Readiness, thread: RunningThread) {
        let (readiness, isReady) = (SharedBox<UVRunLoop.Readiness?>(nil), Signal())
        let thread = startThread {
            let loop = UVRunLoop.current
            readiness.value = try? loop.readiness(of: pipe.readEnd, .readable)
            isReady.send()
            for number in 1...runs {
                mayRun.wait(times: number)
                let result = loop.run(mode: .default, for: nil, returnAfterSourceHandled: true)
                #expect(result == .handledSource)
                hasRun.send()
            }
        }
        isReady.wait()
        return (try #require(readiness.value), thread)
    }

    /// It is about to read, and expects `EAGAIN`.
    @Test func consumerWithAnElementKeepsTheDescriptorNonBlockingAfterTheEndOfTheLoop() throws {
        let (pipe, executor, mayRun, isDone) = (Pipe(), HeldExecutor(), Signal(), Signal())
        let (sequence, thread) = try watch(pipe, mayRun, hasRun: Signal(), runs: 1)
        Task(executorPreference: executor) {
            #expect(await first(of: sequence) == .readable)
            #expect(isNonBlocking(pipe.readEnd))
            #expect(await first(of: sequence) == nil)
            #expect(!isNonBlocking(pipe.readEnd))
            isDone.send()
        }
        executor.performNext()
        pipe.write("x")
        mayRun.send()
        thread.join()
        executor.release()
        isDone.wait()
    }

    /// The first one was cancelled, and comes back while the second has an element.
    @Test func secondConsumerKeepsTheDescriptorNonBlockingWhenTheFirstHasGone() throws {
        let (pipe, mayRun, hasRun) = (Pipe(), Signal(), Signal())
        let (sequence, thread) = try watch(pipe, mayRun, hasRun: hasRun, runs: 2)
        pipe.write("x")
        let (executors, isDone) = ((0..<2).map { _ in HeldExecutor() }, Signal())
        let pauses = (0..<2).map { _ in SharedBox<CheckedContinuation<Void, Never>?>(nil) }
        let consumers = zip(executors, pauses).map { executor, pause in
            Task(executorPreference: executor) {
                var iterator = sequence.makeAsyncIterator()
                #expect(await iterator.next() == .readable)
                await withCheckedContinuation { pause.value = $0 }
                #expect(isNonBlocking(pipe.readEnd))
                #expect(await iterator.next() == nil)
                isDone.send()
            }
        }
        for (index, executor) in executors.enumerated() {
            executor.performNext()
            mayRun.send()
            hasRun.wait(times: index + 1)
            executor.performNext()
            if index == 0 { consumers[0].cancel() }
        }
        thread.join()
        pauses[0].value?.resume()
        executors[0].performNext()
        isDone.wait()
        #expect(isNonBlocking(pipe.readEnd))
        pauses[1].value?.resume()
        executors[1].performNext()
        isDone.wait(times: 2)
        #expect(!isNonBlocking(pipe.readEnd))
        withExtendedLifetime(sequence) {}
    }

    /// It is cancelled before the loop ends, or gets to know afterwards.
    @Test(arguments: [true, false])
    func cancelledConsumerNeedsTheDescriptorNoMore(knowsBefore: Bool) throws {
        let (pipe, executor, isDone) = (Pipe(), HeldExecutor(), Signal())
        let thread = try startLoopThread()
        let sequence = try thread.runLoop.readiness(of: pipe.readEnd, .readable)
        let task = Task(executorPreference: executor) {
            #expect(await first(of: sequence) == nil)
            isDone.send()
        }
        executor.performNext()
        task.cancel()
        if knowsBefore { executor.performNext() }
        thread.stop()
        thread.join()
        executor.release()
        isDone.wait()
        #expect(!isNonBlocking(pipe.readEnd))
        withExtendedLifetime(sequence) {}
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
        #expect(isNonBlocking(pipe.readEnd))
        readiness.value = nil
        #expect(!isNonBlocking(pipe.readEnd))
    }

    @Test func closedDescriptorIsRefused() async throws {
        try await UVRunLoop.withThread { loop in
            let error = #expect(throws: RunLoopError.self) {
                try loop.readiness(of: 9_999, .readable)
            }
            #expect(error?.code == .descriptorClosed)
        }
    }
}
