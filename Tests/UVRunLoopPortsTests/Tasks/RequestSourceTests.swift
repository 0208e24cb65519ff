import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Longer than a test waits for its turn on a busy machine.
private let longLimit = Duration.seconds(900)

/// Many requests and messages of tasks at a time, which share one source in each loop.
@Suite(.timeLimit(.minutes(15))) struct RequestSourceTests {
    private let count = 100

    @Test func aReplyConcernsNoOtherRequest() async throws {
        let (_, peer, remote) = try Place().connected()
        try await UVRunLoop.withThread { loop in
            let tasks = (0..<count).map { _ in
                Task(executorPreference: loop.taskExecutor) {
                    try await remote.request(data: [], limit: longLimit)
                }
            }
            let calls = try await callsOfPorts(of: loop) {
                let numbers = await inThread { (0..<count).map { _ in peer.awaitFrame()?.number } }
                for (number, task) in zip(numbers, tasks) {
                    peer.write(Frame.reply(try #require(number), []).head())
                    // The next reply comes when this one was served.
                    let reply = try await task.value
                    #expect(reply == [])
                }
            }
            #expect(calls >= count)
            #expect(calls <= count + 10)
        }
    }

    /// The socket has room for some of the messages at a time.
    @Test func roomConcernsOnlyThoseThatAreSent() async throws {
        let (connection, peer, remote) = try Place().connected()
        let data = sampleBytes(50_000)
        try await UVRunLoop.withThread { loop in
            let tasks = (0..<count).map { id in
                Task(executorPreference: loop.taskExecutor) {
                    try await remote.send(id: Int32(id), data: data, limit: longLimit)
                }
            }
            try await yield(until: { connection.queuedByteCount >= count / 2 * data.count })
            let queued = connection.queuedByteCount / data.count
            let calls = try await callsOfPorts(of: loop) {
                let ids = await inThread { (0..<count).map { _ in peer.awaitFrame()?.id } }
                for task in tasks { try await task.value }
                #expect(ids == (0..<count).map { Int32($0) })
            }
            // One for each message, and one of the socket before each at most.
            #expect(calls >= queued)
            #expect(calls <= 2 * count + 10)
        }
    }

    /// Each loop has its own source, and what one of them reads may be for the others.
    @Test func tasksOfSeveralLoopsShareAConnection() async throws {
        let (_, peer, remote) = try Place().connected()
        try await UVRunLoop.withThread { one in
            try await UVRunLoop.withThread { other in
                let executors: [(any TaskExecutor)?] = [one.taskExecutor, other.taskExecutor, nil]
                let tasks = (0..<count).map { index in
                    Task(executorPreference: executors[index % executors.count]) {
                        try await remote.request(id: Int32(index), data: [], limit: longLimit)
                    }
                }
                let frames = await inThread { (0..<count).compactMap { _ in peer.awaitFrame() } }
                for frame in frames {
                    peer.write(Frame.reply(frame.number, [UInt8(frame.id)]).head())
                }
                for (index, task) in tasks.enumerated() {
                    let reply = try await task.value
                    #expect(reply == [UInt8(index)])
                }
            }
        }
    }

    /// It stays for the next request, and leaves when the socket has something for no task again.
    @Test func theSourceLeavesAfterTheLastRequest() async throws {
        let (connection, peer, remote) = try Place().connected()
        try await UVRunLoop.withThread { loop in
            for isCancelled in [false, true, false] {
                let tasks = (0..<3).map { _ in
                    Task(executorPreference: loop.taskExecutor) {
                        try await remote.request(data: [], limit: longLimit)
                    }
                }
                let numbers = await inThread { (0..<3).map { _ in peer.awaitFrame()?.number } }
                if isCancelled { tasks.forEach { $0.cancel() } }
                for number in numbers { peer.write(Frame.reply(number ?? 0, []).head()) }
                for task in tasks { _ = await task.result }
            }
            #expect(connection.requestSourceCount == 1)
            try await yield(until: {
                peer.write(Frame.reply(999, []).head())
                return connection.requestSourceCount == 0
            })
            #expect(remote.isValid)
        }
    }

    /// Neither a mode nor itself after its port or its loop.
    @Test(arguments: [true, false])
    func anUnusedSourceKeepsNothing(portEndsFirst: Bool) async throws {
        let (connection, peer, remote) = try Place().connected()
        let thread = try startLoop()
        let loop = thread.runLoop
        let mode = UVRunLoop.Mode("idle")
        loop.addCommonMode(mode)
        let task = Task(executorPreference: loop.taskExecutor) {
            try await remote.request(data: [], limit: longLimit)
        }
        let number = await inThread { peer.awaitFrame()?.number }
        // The task sends before it waits.
        try await yield(until: { connection.requestSource(for: loop) != nil })
        weak let source = connection.requestSource(for: loop)
        #expect(source != nil)
        peer.write(Frame.reply(number ?? 0, []).head())
        _ = try await task.value
        #expect(connection.requestSource(for: loop) != nil)
        let result = try runOnce(loop, mode)
        #expect(result == .finished)
        if portEndsFirst { remote.invalidate() }
        #expect(!portEndsFirst || connection.requestSource(for: loop) == nil)
        end(thread)
        #expect(source == nil)
        #expect(connection.requestSource(for: loop) == nil)
    }

    /// A task may begin to wait when its loop is ending.
    @Test func aLoopThatHasEndedKeepsNoSource() throws {
        let (connection, peer, remote) = try Place().connected()
        let thread = try startLoop()
        end(thread)
        let request = try TaskRequest(.message(1, [], replyName: []), on: connection)
        let source = connection.join(request, in: thread.runLoop)
        #expect(connection.requestSourceCount == 1)
        connection.leave(request, source)
        #expect(connection.requestSourceCount == 0)
        withExtendedLifetime((peer, remote)) {}
    }
}

extension RemoteConnection {
    fileprivate var queuedByteCount: Int { state.withLock { $0.sendQueue.keptByteCount } }
    fileprivate var requestSourceCount: Int { state.withLock { $0.requestSources.count } }

    fileprivate func requestSource(for loop: UVRunLoop) -> RequestSource? {
        state.withLock { $0.requestSources[ObjectIdentifier(loop)] }
    }
}

extension RawPeer {
    /// The next frame, also of a task that has no turn for minutes.
    fileprivate func awaitFrame() -> Frame? {
        for _ in 0..<30 {
            if let frame = readFrame() { return frame }
        }
        return nil
    }
}

/// How often a loop calls port-based sources during a body.
private func callsOfPorts(
    of loop: UVRunLoop,
    during body: () async throws -> Void
) async throws -> Int {
    let counter = CallCounter(loop)
    defer { counter.stop() }
    try await body()
    return counter.count
}

/// Counts the calls of a loop's port-based sources.
private final class CallCounter: LoopTracer, LoopTrack {
    private let loop: UVRunLoop
    private let calls = Guarded(0)

    init(_ loop: UVRunLoop) {
        self.loop = loop
        LoopTracing.add(self)
    }

    var count: Int { calls.withLock(\.self) }

    func stop() { LoopTracing.remove(self) }

    func beginTracing(_ loop: UVRunLoop) -> (any LoopTrack)? { loop === self.loop ? self : nil }

    func record(_ event: LoopEvent) {
        guard case .called(let call, _, _) = event, call.kind == .port else { return }
        calls.withLock { $0 += 1 }
    }
}

/// The result of what blocks a thread.
private func inThread<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
) async -> Result {
    let thread = Guarded<RunningThread?>(nil)
    let result = await withUnsafeContinuation { continuation in
        let started = startThread { continuation.resume(returning: body()) }
        thread.withLock { $0 = started }
    }
    if let thread = thread.withLock(\.self) { join(thread) }
    return result
}

/// Runs a loop, which a thread is running, for a pass in another mode.
private func runOnce(_ loop: UVRunLoop, _ mode: UVRunLoop.Mode) throws -> UVRunLoop.RunResult? {
    let result = Guarded<UVRunLoop.RunResult?>(nil)
    try loop.performAndWait {
        let value = UVRunLoop.current.run(mode: mode, for: .zero)
        result.withLock { $0 = value }
    }
    return result.withLock(\.self)
}
