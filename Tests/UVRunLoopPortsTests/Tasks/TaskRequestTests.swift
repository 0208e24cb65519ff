import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Longer than a test waits for its turn on a busy machine.
private let longLimit = Duration.seconds(900)

/// Frames of tasks whose wait begins or ends when another thread has changed the connection.
@Suite(.timeLimit(.minutes(15))) struct TaskRequestTests {
    /// A queued message, of which another sender sends the rest before its task watches the socket.
    @Test func aMessageThatAnotherSenderSentIsSettled() async throws {
        let (connection, peer, remote) = try connect(Place())
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
            let (connection, peer, remote) = try connect(Place())
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
}

/// A remote port, its connection, and the other side, which is served by the test.
private func connect(_ place: Place) throws -> (RemoteConnection, RawPeer, Remote) {
    let listener = try place.rawListener()
    let remote = try place.remote()
    return (remote.connection, try listener.accept(), remote)
}

/// Sends the rest of a frame as another sender would, without giving way to other tests: the peer
/// does not wait for minutes.
private func finishSending(_ queued: FrameQueue.ID, on connection: RemoteConnection) throws {
    for _ in 0..<60_000 {
        if try connection.trySending(queued) { return }
        usleep(1000)
    }
    throw Trouble("the peer does not read")
}

/// Blocks a task's thread, which a test may do.
private func join(_ thread: RunningThread) { thread.join() }

/// Blocks a task's thread until the loop's thread, which meanwhile reads nothing, has done this.
private func perform(on loop: UVRunLoop, _ action: @escaping @Sendable () -> Void) throws {
    try loop.performAndWait(action)
}
