import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Replies for which there is no room, of a port whose messages a task takes.
@Suite(.timeLimit(.minutes(15))) struct HeldReplyTests {
    @Test func replyIsSentWhileAMessageWaitsForATask() async throws {
        try await withPort { loop, port, place in
            let (client, other) = try (place.rawSocket(), place.rawSocket())
            client.write(Frame.request(1, 1, []).head())
            try #require(await next(of: port)).reply(sampleBytes(4 << 20))
            other.write(Frame.request(1, 2, []).head())
            // The other one's message is read by now, and nobody takes it.
            awaitIdleness(of: loop)
            #expect(client.reads(.reply(1, sampleBytes(4 << 20))))
            let request = try #require(await next(of: port))
            #expect(request.message.id == 2)
            request.reply([2])
            #expect(other.readFrame() == .reply(1, [2]))
        }
    }

    @Test func clientThatReadsLateGetsAllItsReplies() async throws {
        try await withPort { loop, port, place in
            let (client, other) = try (place.rawSocket(), place.rawSocket())
            for id in 1...4 as ClosedRange<Int32> {
                client.write(Frame.request(UInt64(id), id, []).head())
            }
            let server = Task(executorPreference: loop.taskExecutor) {
                for id in 1...4 as ClosedRange<Int32> {
                    let request = try #require(await next(of: port))
                    #expect(request.message.id == id)
                    request.reply(sampleBytes(1 << 20) + [UInt8(id)])
                }
            }
            awaitIdleness(of: loop)
            for id in 1...4 as ClosedRange<UInt8> {
                #expect(client.reads(.reply(UInt64(id), sampleBytes(1 << 20) + [id])))
            }
            try await server.value
            other.write(Frame.request(1, 5, []).head())
            try #require(await next(of: port)).reply(nil)
            #expect(other.readFrame() == .reply(1, nil))
        }
    }

    /// The port has nothing to do for it, and the other client's message is held.
    @Test func clientThatReadsNoReplyKeepsTheLoopAsleep() async throws {
        try await withPort { loop, port, place in
            let (client, other) = try (place.rawSocket(), place.rawSocket())
            for id in 1...2 as ClosedRange<Int32> {
                client.write(Frame.request(UInt64(id), id, []).head())
            }
            try #require(await next(of: port)).reply(sampleBytes(4 << 20))
            other.write(Frame.request(1, 3, []).head())
            awaitIdleness(of: loop)
            #expect(isQuiet(loop))
            #expect(client.readFrame()?.data?.count == 4 << 20)
            awaitIdleness(of: loop)
            #expect(isQuiet(loop))
            let ids = [await next(of: port)?.message.id, await next(of: port)?.message.id]
            #expect(Set(ids) == [2, 3])
            #expect([client.readFrame(), other.readFrame()] == [.reply(2, nil), .reply(1, nil)])
        }
    }
}

private func withPort(
    _ body: (UVRunLoop, UVRunLoop.MessagePort.Local, Place) async throws -> Void
) async throws {
    let place = Place()
    try await UVRunLoop.withThread { loop in
        let port = try Local.port(
            PortName("port"),
            in: place.directory(),
            order: 0,
            limits: .init(),
            acceptPeer: nil,
            handler: nil
        )
        loop.add(port, forMode: .common)
        try await body(loop, port, place)
        port.invalidate()
    }
}

extension RawPeer {
    /// Whether the next frame is this one; a comparison would print all its bytes.
    fileprivate func reads(_ frame: Frame) -> Bool { readFrame() == frame }
}

private func next(of port: Local) async -> MessagePort.Request? {
    var requests = port.requests.makeAsyncIterator()
    return await requests.next()
}
