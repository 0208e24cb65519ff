import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Longer than a test waits for its turn on a busy machine.
private let longLimit = Duration.seconds(900)

/// Frames of tasks whose wait begins or ends when another thread has changed the connection, or
/// after the end of their loop.
@Suite(.timeLimit(.minutes(15))) struct TaskRequestTests {
    /// A queued message, of which another sender sends the rest before its task watches the socket.
    @Test func aMessageThatAnotherSenderSentIsSettled() async throws {
        let (connection, peer, remote) = try Place().connected()
        let frame = Frame.message(1, sampleBytes(8 << 20))
        let queued = try #require(try connection.beginSending(frame))
        let reader = startThread { _ = peer.read(frame.head().count) }
        try finishSending(queued, on: connection)
        join(reader)
        let request = TaskRequest(queued, on: connection)
        #expect(try await request.outcome(longLimit, nil) == nil)
        #expect(remote.isValid)
    }

    /// A cancelled request of which a part was sent, and a connection that ends with unread input:
    /// the kernel reports that as readable for as long as a loop watches.
    @Test func anAbandonedRequestLeavesItsLoopAtTheEndOfTheConnection() async throws {
        try await UVRunLoop.withThread { loop in
            let (connection, peer, remote) = try Place().connected()
            let request = Task(executorPreference: loop.taskExecutor) {
                try await remote.request(data: sampleBytes(8 << 20), limit: longLimit)
            }
            try await yield(until: { !remote.isValid || !connection.hasRoom })
            request.cancel()
            await #expect(throws: CancellationError.self) { try await request.value }
            try perform(on: loop) {
                peer.write(Frame.reply(7, [1]).head())
                remote.invalidate()
            }
            #expect(isQuiet(loop))
        }
    }

    /// A sender that has no turn for a while.
    ///
    /// The kernel reports the end of a socket for as long as a loop watches it.
    @Test(arguments: [true, false])
    func aRequestLeavesItsLoopAtTheEndOfTheConnectionBeforeItsTaskHasATurn(
        isRequest: Bool
    ) async throws {
        let (connection, peer, remote) = try Place().connected()
        let request = try request(sampleBytes(8 << 20), isRequest: isRequest, on: connection)
        let executor = HeldExecutor()
        let task = Task(executorPreference: executor) { try await request.outcome(longLimit, nil) }
        executor.performNext()
        #expect(request.link.loop != nil)
        peer.socket.descriptor.shutDown()
        try await yield(until: { request.link.loop == nil })
        executor.release()
        await #expect(throws: MessagePortError.becameInvalid) { try await task.value }
        #expect(!remote.isValid)
    }

    /// A part of the frame was sent: without the rest, no other message could follow.
    @Test(arguments: [true, false], [true, false])
    func theRestIsSentWhenTheLoopOfTheSenderHasEnded(
        isRequest: Bool,
        isCancelled: Bool
    ) async throws {
        let (connection, peer, remote) = try Place().connected()
        let request = try request(sampleBytes(8 << 20), isRequest: isRequest, on: connection)
        let thread = try startLoop()
        let task = Task(executorPreference: thread.runLoop.taskExecutor) {
            try await request.outcome(longLimit, nil)
        }
        try await yield(until: { request.link.loop != nil })
        if isCancelled {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            end(thread)
        } else {
            end(thread)
            await #expect(throws: MessagePortError.threadStopped) { try await task.value }
        }
        #expect(remote.isValid)
        let frames = Guarded<[Frame?]>([])
        let reader = startThread {
            for _ in 0..<2 {
                let frame = peer.readFrame()
                frames.withLock { $0.append(frame) }
            }
        }
        try await remote.send(id: 2, data: [2], limit: longLimit)
        join(reader)
        let arrived = frames.withLock(\.self)
        #expect(arrived.first??.data == sampleBytes(8 << 20))
        #expect(arrived.last == .message(2, [2]))
    }

    /// Nobody reads, so the rest cannot be sent.
    @Test(arguments: [true, false])
    func theRestIsSentUpToTheLimitOfTheRequest(isRequest: Bool) async throws {
        let (connection, peer, remote) = try Place().connected()
        let request = try request(sampleBytes(8 << 20), isRequest: isRequest, on: connection)
        let thread = try startLoop()
        let task = Task(executorPreference: thread.runLoop.taskExecutor) {
            try await request.outcome(.milliseconds(300), nil)
        }
        try await yield(until: { request.link.loop != nil || !remote.isValid })
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        end(thread)
        try await yield(until: { !remote.isValid })
        withExtendedLifetime(peer) {}
    }

    /// While its task begins to wait; the end of the port takes a while.
    @Test(arguments: [true, false])
    func aLimitThatPassesAtOnceHasItsOwnError(isRequest: Bool) async throws {
        for attempt in 0..<100 {
            let (_, peer, remote) = try Place().connected()
            remote.invalidationHandler = { _ in usleep(500) }
            let limit = Duration.microseconds([0, 5, 10, 20][attempt % 4])
            await #expect(throws: MessagePortError.sendTimedOut) {
                let data = sampleBytes(1 << 20)
                if isRequest { return _ = try await remote.request(data: data, limit: limit) }
                try await remote.send(data: data, limit: limit)
            }
            withExtendedLifetime(peer) {}
        }
    }

    @Test(.enabled(if: hasMemory(for: 1 << 32), "The machine refuses 4 GiB that nobody touches."))
    func aMessageThatIsLongerThanAFrameIsNotSent() async throws {
        let (_, peer, remote) = try Place().connected()
        // Memory that nobody touches.
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 32) { $1 = 1 << 32 }
        await #expect(throws: MessagePortError.messageTooLarge) {
            try await remote.request(data: bytes)
        }
        await #expect(throws: MessagePortError.messageTooLarge) {
            try await remote.send(data: bytes)
        }
        #expect(remote.isValid)
        try await remote.send(id: 7, data: [7])
        #expect(peer.readFrame() == .message(7, [7]))
    }

    /// A request, or a message without a reply, of which a part waits in its queue.
    private func request(
        _ data: [UInt8],
        isRequest: Bool,
        on connection: RemoteConnection
    ) throws -> TaskRequest {
        let frame = Frame.message(1, data)
        if isRequest { return try TaskRequest(frame, on: connection) }
        return TaskRequest(try #require(try connection.beginSending(frame)), on: connection)
    }
}

/// Blocks a task's thread until the loop's thread, which meanwhile reads nothing, has done this.
private func perform(on loop: UVRunLoop, _ action: @escaping @Sendable () -> Void) throws {
    try loop.performAndWait(action)
}
