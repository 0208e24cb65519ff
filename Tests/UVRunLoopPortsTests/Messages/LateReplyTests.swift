import Glibc
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Replies that come after their requests were given up.
@Suite(.timeLimit(.minutes(15))) struct LateReplyTests {
    /// How a request is given up.
    enum End: CaseIterable {
        case limit, limitOfTask, cancelledTask
    }

    /// The other side reads no message before its reply is sent, and the sender runs no loop.
    @Test(arguments: End.allCases)
    func messagesAfterALateReplyArrive(end: End) async throws {
        let (place, released, arrived) = (Place(), Signal(), Signal())
        let server = try PortServer(place) { _, message in
            guard message.id == 1 else {
                arrived.send()
                return nil
            }
            released.wait()
            return sampleBytes(8 << 20)
        }
        let remote = try place.remote()
        await giveUpRequest(of: remote, by: end)
        released.send()
        for id in Int32(2)...6 { try await remote.send(id: id, data: [1]) }
        arrived.wait(times: 5)
        #expect(remote.isValid)
        // Nobody reads for the port any longer, and the next reply is its own.
        let connection = remote.connection
        while !connection.endLateReading() { usleep(1_000) }
        #expect(try await remote.request(id: 7, data: []) == nil)
        server.stop()
    }

    private func giveUpRequest(of remote: Remote, by end: End) async {
        switch end {
        case .limit:
            onAnotherThread {
                #expect(throws: MessagePortError.receiveTimedOut) {
                    try remote.request(id: 1, receiveLimit: .milliseconds(1))
                }
            }
        case .limitOfTask:
            await #expect(throws: MessagePortError.receiveTimedOut) {
                try await remote.request(id: 1, data: [], limit: .milliseconds(20))
            }
        case .cancelledTask:
            let task = Task { try await remote.request(id: 1, data: []) }
            try? await Task.sleep(for: .milliseconds(20))
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func aRequestThatWasWithdrawnIsNotWaitedFor() throws {
        let (connection, peer, remote) = try Place().connected()
        let big = Frame.message(1, sampleBytes(8 << 20), replyName: [])
        let first = try connection.beginSending(big)
        #expect(first != nil)
        onAnotherThread {
            #expect(throws: MessagePortError.sendTimedOut) {
                try remote.request(id: 2, sendLimit: .milliseconds(1))
            }
        }
        #expect(connection.endLateReading())
        remote.invalidate()
        withExtendedLifetime(peer) {}
    }

    /// Its task and its limit may give it up at the same time, and the second finds nothing to
    /// withdraw.
    @Test func aRequestThatIsGivenUpTwiceIsNotWaitedFor() throws {
        let (connection, peer, remote) = try Place().connected()
        _ = try connection.beginSending(.message(1, sampleBytes(8 << 20), replyName: []))
        let frame = Frame.message(2, [], replyName: [])
        let (queued, number) = try connection.beginRequest(frame, from: .task(TaskWait()))
        let id = try #require(queued)
        #expect(connection.withdraw(id).isWithdrawn)
        #expect(!connection.withdraw(id).isWithdrawn)
        #expect(!connection.removeRequest(number))
        #expect(connection.endLateReading())
        remote.invalidate()
        withExtendedLifetime(peer) {}
    }
}

extension RemoteConnection.Withdrawal {
    fileprivate var isWithdrawn: Bool { if case .withdrawn = self { true } else { false } }
}
