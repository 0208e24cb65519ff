import Glibc
import Testing

@testable import UVRunLoop

/// Handlers that fork and return in the child, too.
@Suite(.timeLimit(.minutes(15))) struct ForkedHandlerTests {
    @Test func aRunOfTheParentsLoopDoesNotGoOnInTheChild() async {
        await #expect(processExitsWith: .success) { returnFromHandlersInChildren() }
    }

    /// The main thread runs it without having asked for it.
    @Test func neitherDoesARunOfAMainLoopThatAnotherThreadMade() async {
        await #expect(processExitsWith: .success) {
            // The thread that forked is the main thread of its child.
            let status = inChild { returnFromARunOfTheMainLoop() }
            precondition(status == 0, "\(status)")
        }
    }

    /// In the child, nobody releases it.
    @Test func aChildThatReturnsToARunWaitsForNoLockOfItsParent() async throws {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            onAnotherThread(returnWhileTheEngineIsLocked)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("This run loop belongs to the parent process."))
    }

    /// As a backend of metrics might.
    @Test func aTracerThatReturnsInTheChildIsTheLastCallThere() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) { onAnotherThread(returnFromATracer) }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let sentences = text.split(separator: "\n").filter {
            $0.contains("This run loop belongs to the parent process.")
        }
        #expect(sentences.count == ForkingTracer.Moment.allCases.count, "\(text)")
    }

    @Test func aTracedHandlerThatReturnsInTheChildTrapsAsOthersDo() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) { onAnotherThread(returnFromATracedHandler) }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("This run loop belongs to the parent process."), "\(text)")
    }
}

/// A tracer that forks at one moment, and returns in both processes.
private final class ForkingTracer: LoopTracer, LoopTrack {
    enum Moment: CaseIterable {
        case beginning, run, pass, sleep, call, blocks, jobs, end
    }

    private let moment: Moment?
    private let standardError = dup(STDERR_FILENO)
    /// The child's number, 0 in the child; -1 before the fork.
    let child = SharedBox<pid_t>(-1)

    /// Creates one that forks at a moment, or never.
    init(at moment: Moment?) {
        self.moment = moment
        LoopTracing.add(self)
    }

    deinit { close(standardError) }

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? {
        reach(.beginning)
        return self
    }

    func record(_ event: LoopEvent) {
        switch event {
        case .runBegan: reach(.run)
        case .passBegan: reach(.pass)
        case .slept: reach(.sleep)
        case .called: reach(.call)
        case .tookBlocks: reach(.blocks)
        case .performedJobs: reach(.jobs)
        case .runEnded: reach(.end)
        case .refused, .modeIsUnused: break
        }
    }

    private func reach(_ moment: Moment) {
        if child.value == 0 { _exit(56) }
        if moment == self.moment, child.value == -1 { forkHere() }
    }

    /// It is the sentence of the trap that counts.
    func forkHere() {
        child.value = forkAndReturn()
        if child.value == 0 { dup2(standardError, STDERR_FILENO) }
    }
}

/// Runs a loop that has something of each kind to do, with a tracer that forks, for each moment.
private func returnFromATracer() {
    let loop = UVRunLoop.current
    for moment in ForkingTracer.Moment.allCases {
        let tracer = ForkingTracer(at: moment)
        let handler = { @Sendable in
            if tracer.child.value == 0 { _exit(57) }
        }
        // On a busy machine the timer may be due before the loop sleeps.
        while tracer.child.value == -1 {
            loop.perform { handler() }
            Task(executorPreference: loop.taskExecutor) { handler() }
            let timer = UVRunLoop.Timer(
                after: .milliseconds(1),
                sendableHandler: { _ in handler() }
            )
            loop.add(timer, forMode: .default)
            loop.run(mode: .default, for: .seconds(60))
        }
        if tracer.child.value == 0 { _exit(55) }
        LoopTracing.remove(tracer)
        let status = awaitEnd(of: tracer.child.value)
        precondition(isTrap(status), "\(moment): \(status)")
    }
}

private func returnFromATracedHandler() {
    let loop = UVRunLoop.current
    let tracer = ForkingTracer(at: nil)
    let timer = UVRunLoop.Timer(after: .zero, sendableHandler: { _ in tracer.forkHere() })
    loop.add(timer, forMode: .default)
    loop.run(mode: .default, for: .seconds(60))
    if tracer.child.value == 0 { _exit(55) }
    LoopTracing.remove(tracer)
    precondition(isTrap(awaitEnd(of: tracer.child.value)))
}

private func returnFromARunOfTheMainLoop() -> CInt {
    let made = SharedBox<UVRunLoop?>(nil)
    // Making an item is a use of the library, but not of the thread's loop.
    let timer = UVRunLoop.Timer(after: .seconds(60)) { _ in }
    startThread { made.value = UVRunLoop.main }.join()
    guard let loop = made.value else { return 1 }
    defer { timer.invalidate() }
    return aBlockTrapsInAForkedChild(of: loop) ? 0 : 2
}

/// Forks in a port's first call, while another thread has locked the engine.
private func returnWhileTheEngineIsLocked() {
    let loop = UVRunLoop.current
    let (isLocked, mayRelease) = (Signal(), Signal())
    let child = SharedBox<pid_t>(-1)
    let port = UVRunLoop.Port(sendableHandler: { _, _ in
        guard child.value == -1 else { return }
        let holder = startThread {
            loop.contents.withEngine { _ in
                isLocked.send()
                mayRelease.wait()
            }
        }
        isLocked.wait()
        let standardError = dup(STDERR_FILENO)
        child.value = forkAndReturn()
        guard child.value != 0 else {
            // It is the sentence of the trap that counts.
            dup2(standardError, STDERR_FILENO)
            return
        }
        mayRelease.send()
        holder.join()
    })
    loop.add(port, forMode: .default)
    for _ in 1...2 { _ = port.send(UVRunLoop.PortMessage()) }
    let limit = UVRunLoop.Timer(after: .milliseconds(10)) { _ in loop.stop() }
    loop.add(limit, forMode: .default)
    loop.run(mode: .default, for: .seconds(60))
    precondition(isTrap(awaitEnd(of: child.value)))
}

/// Forks in handlers of each kind, which return in both processes: the run of the parent's loop
/// must trap in the child, before it calls anything else.
private func returnFromHandlersInChildren() {
    onAnotherThread {
        let loop = UVRunLoop.current
        // Observers do not keep a mode from being empty.
        loop.add(UVRunLoop.Source { _ in }, forMode: .default)
        let handlers = ForkInAHandler(loop: loop)
        for (name, begin) in handlers.kinds {
            do {
                try begin()
            } catch {
                preconditionFailure("\(error)")
            }
            precondition(handlers.trapsInChild(), "\(name) did not trap.")
        }
        // The parent notices nothing.
        let timer = UVRunLoop.Timer(after: .microseconds(300)) { _ in loop.stop() }
        loop.add(timer, forMode: .default)
        precondition(loop.run(mode: .default, for: nil) == .stopped)
    }
}

/// All handlers are sendable: those that are bound to a thread trap by themselves in the child.
private struct ForkInAHandler {
    let loop: UVRunLoop
    /// The child's number, 0 in the child; -1 before the fork.
    let child = SharedBox<pid_t>(-1)

    var kinds: [(String, () throws -> Void)] {
        [
            ("the first of two blocks", forkInABlock),
            ("a source", { addSource { forkHere() } }),
            ("the first of two sources", forkInTheFirstOfTwoSources),
            ("the first of two observers", forkInAnObserver),
            ("the first of two timers", forkInATimer),
            ("the first of two requests", forkInARequest),
            ("the first of two jobs", forkInAJob),
            ("the second of four messages", forkInAPort),
            ("a descriptor", forkInADescriptorSource),
            ("the end of captures", forkAtTheEndOfCaptures),
        ]
    }

    /// Runs the loop until a handler has forked; returns whether the child has trapped.
    func trapsInChild() -> Bool {
        while child.value == -1 { loop.run(mode: .default, for: .milliseconds(10)) }
        if child.value == 0 { _exit(55) }
        defer { child.value = -1 }
        return isTrap(awaitEnd(of: child.value))
    }

    private func act(_ isFirst: Bool) {
        if isFirst { forkHere() } else { expectParent() }
    }

    private func forkHere() { child.value = forkAndReturn() }

    private func expectParent() {
        if child.value == 0 { _exit(56) }
    }

    private func forkInATimer() {
        for isFirst in [true, false] {
            let timer = UVRunLoop.Timer(after: .zero, sendableHandler: { _ in act(isFirst) })
            loop.add(timer, forMode: .default)
        }
        letTimePass(.milliseconds(1))
    }

    private func forkInARequest() {
        for isFirst in [true, false] { loop.requestPerform { act(isFirst) } }
    }

    private func addSource(_ perform: @escaping @Sendable () -> Void) {
        let source = UVRunLoop.Source(sendablePerform: { source in
            source.invalidate()
            perform()
        })
        loop.add(source, forMode: .default)
        source.signal()
    }

    private func forkInABlock() {
        for isFirst in [true, false] { loop.perform { act(isFirst) } }
    }

    private func forkInTheFirstOfTwoSources() {
        for isFirst in [true, false] { addSource { act(isFirst) } }
    }

    private func forkInAnObserver() {
        for isFirst in [true, false] {
            let observer = UVRunLoop.Observer(
                activities: .beforeSources,
                repeats: false,
                sendableHandler: { _, _ in act(isFirst) }
            )
            loop.add(observer, forMode: .default)
        }
    }

    private func forkInAJob() {
        for isFirst in [true, false] {
            Task(executorPreference: loop.taskExecutor) { act(isFirst) }
        }
    }

    private func forkInAPort() {
        let count = SharedBox(0)
        let port = UVRunLoop.Port(sendableHandler: { port, _ in
            count.value += 1
            expectParent()
            if count.value == 2 { forkHere() }
            if count.value == 4 { port.invalidate() }
        })
        loop.add(port, forMode: .default)
        for _ in 1...4 { _ = port.send(UVRunLoop.PortMessage()) }
    }

    private func forkInADescriptorSource() throws {
        let pipe = Pipe()
        pipe.write("x")
        let source = try UVRunLoop.DescriptorSource(
            pipe.readEnd,
            events: .readable,
            sendableHandler: { source, _ in
                source.invalidate()
                forkHere()
                withExtendedLifetime(pipe) {}
            }
        )
        loop.add(source, forMode: .default)
    }

    private func forkAtTheEndOfCaptures() {
        addSource { [end = Farewell { forkHere() }] in withExtendedLifetime(end) {} }
    }
}
