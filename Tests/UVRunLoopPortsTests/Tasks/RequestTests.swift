import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Longer than a test waits for its turn on a busy machine.
private let longLimit = Duration.seconds(900)

/// The messages of a local port as requests that a task replies to, and requests that tasks send.
@Suite(.timeLimit(.minutes(15))) struct RequestTests {
    @Test(arguments: [true, false])
    func requestsAreAnswered(clientIsOnLoop: Bool) async throws {
        try await withPort { loop, port, place in
            let server = Task(executorPreference: loop.taskExecutor) {
                for await request in port.requests {
                    request.reply(request.message.data + [UInt8(request.message.id)])
                    request.reply([0])
                }
            }
            let client: @Sendable () async throws -> Void = {
                let remote = try place.remote()
                for number in 0..<100 {
                    let reply = try await remote.request(
                        id: Int32(number),
                        data: [7],
                        limit: longLimit
                    )
                    #expect(reply == [7, UInt8(number)])
                }
            }
            if clientIsOnLoop {
                try await Task(executorPreference: loop.taskExecutor, operation: client).value
            } else {
                try await client()
            }
            port.invalidate()
            await server.value
        }
    }

    @Test func aRequestThatIsDroppedGetsAReplyWithoutData() async throws {
        try await withPort { _, port, place in
            let remote = try place.remote()
            async let reply = remote.request(data: [1], limit: longLimit)
            #expect(await next(of: port)?.message.data == [1])
            #expect(try await reply == nil)
            async let later = remote.request(data: [2], limit: longLimit)
            await next(of: port)?.reply([3])
            #expect(try await later == [3])
        }
    }

    @Test func aReplyThatIsThereWhenTheLimitPassesCounts() async throws {
        try await whileALoopIsBusy { connection in
            connection.socket?.descriptor.holdsInput ?? false
        } send: { remote, limit in
            let reply = try await remote.request(data: [1], limit: limit)
            #expect(reply == [7])
        } serve: { peer in
            if peer.readFrame() != nil { peer.write(Frame.reply(1, [7]).head()) }
        }
    }

    @Test func aMessageForWhoseRestThereIsRoomWhenTheLimitPassesIsSent() async throws {
        try await whileALoopIsBusy { connection in
            connection.hasRoom
        } send: { remote, limit in
            try await remote.send(data: sampleBytes(300_000), limit: limit)
            #expect(remote.isValid)
        } serve: { peer in
            #expect(peer.readFrame()?.data?.count == 300_000)
        }
    }

    @Test func aClientThatWaitsForItsReplyDelaysNoOther() async throws {
        try await withPort { _, port, place in
            let remotes = try [place.remote(), place.remote()]
            async let first = remotes[0].request(data: [1], limit: longLimit)
            let request = try #require(await next(of: port))
            async let second = remotes[1].request(data: [2], limit: longLimit)
            await next(of: port)?.reply([20])
            #expect(try await second == [20])
            request.reply([10])
            #expect(try await first == [10])
        }
    }

    @Test func aConnectionsMessagesWaitForTheReply() async throws {
        try await withPort { loop, port, place in
            let remote = try place.remote()
            let replies = Task { try await remote.request(id: 1, data: [], limit: longLimit) }
            let request = try #require(await next(of: port))
            let later = Task { try await remote.request(id: 2, data: [], limit: longLimit) }
            let wait = Task { await next(of: port) }
            awaitIdleness(of: loop)
            wait.cancel()
            #expect(await wait.value == nil)
            request.reply([1])
            let second = try #require(await next(of: port))
            #expect(second.message.id == 2)
            second.reply([2])
            #expect(try await replies.value == [1])
            #expect(try await later.value == [2])
        }
    }

    @Test func messagesThatNobodyTakesStayInTheSockets() async throws {
        try await withPort { loop, port, place in
            let remotes = try (0..<3).map { _ in try place.remote() }
            let requests = remotes.map { remote in
                Task { try await remote.request(data: [1], limit: longLimit) }
            }
            awaitIdleness(of: loop)
            #expect(isQuiet(loop))
            for _ in requests {
                let request = try #require(await next(of: port))
                awaitIdleness(of: loop)
                request.reply([2])
            }
            for request in requests { #expect(try await request.value == [2]) }
        }
    }

    /// Between its look at what is there and its wait.
    @Test func aTaskThatIsCancelledBeforeItWaitsLeavesTheRequest() async throws {
        try await withPort { loop, port, place in
            let receiver = try #require(port.link.receiver as? LocalReceiver)
            let remotes = try [place.remote(), place.remote()]
            for (index, remote) in remotes.enumerated() {
                try await remote.send(id: Int32(index), data: [])
                awaitIdleness(of: loop)
            }
            let cancelled = Task {
                withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await receiver.awaitRequest(of: port.link, isolation: nil)
            }
            #expect(await cancelled.value == nil)
            awaitIdleness(of: loop)
            #expect(await next(of: port)?.message.id == 0)
            #expect(await next(of: port)?.message.id == 1)
        }
    }

    @Test func aLargeReplyIsSentWhileAMessageWaits() async throws {
        try await withPort { loop, port, place in
            let sample = sampleBytes(8 << 20)
            let remotes = try [place.remote(), place.remote()]
            let first = Task { try await remotes[0].request(data: [1], limit: longLimit) }
            let request = try #require(await next(of: port))
            let second = Task { try await remotes[1].request(data: [2], limit: longLimit) }
            awaitIdleness(of: loop)
            request.reply(sample)
            #expect(try await first.value == sample)
            await next(of: port)?.reply(nil)
            #expect(try await second.value == nil)
        }
    }

    @Test func aClientMayLeaveBeforeItsReply() async throws {
        try await withPort { loop, port, place in
            let remote = try place.remote()
            let reply = Task { try await remote.request(data: [1], limit: longLimit) }
            let request = try #require(await next(of: port))
            remote.invalidate()
            await #expect(throws: MessagePortError.becameInvalid) { try await reply.value }
            // The loop is not kept busy by the connection's end.
            awaitIdleness(of: loop)
            #expect(isQuiet(loop))
            request.reply([1])
            let other = try place.remote()
            let wait = Task { await next(of: port)?.reply([2]) }
            #expect(try await other.request(data: [], limit: longLimit) == [2])
            await wait.value
            try await yield(until: { port.connectionCount <= 1 })
        }
    }

    @Test func aRequestInProgressIsNotIdle() async throws {
        var limits = MessagePort.Limits()
        // Long enough for a machine that stalls after connecting.
        limits.idleTimeLimit = .seconds(2)
        try await withPort(limits) { _, port, place in
            // Sent right after connecting: before that, the connection is idle.
            let client = Task {
                let remote = try place.remote()
                return (remote, try await remote.request(data: [1], limit: longLimit))
            }
            let request = try #require(await next(of: port))
            letTimePass(.milliseconds(2_500))
            request.reply([2])
            let (remote, reply) = try await client.value
            #expect(reply == [2])
            // It is idle from then on.
            try await yield(until: { port.connectionCount == 0 })
            withExtendedLifetime(remote) {}
        }
    }

    // MARK: The end

    @Test func theSequenceEnds() async throws {
        let last = try await withPort { _, port, _ in
            let cancelled = Task { await next(of: port) }
            letTimePass(.milliseconds(2))
            cancelled.cancel()
            #expect(await cancelled.value == nil)
            let last = Task { await next(of: port) }
            letTimePass(.milliseconds(2))
            return last
        }
        #expect(await last.value == nil)
    }

    @Test func aPortThatBecomesInvalidFailsItsClients() async throws {
        try await withPort { loop, port, place in
            let remotes = try [place.remote(), place.remote()]
            let replies = remotes.map { remote in
                Task { try await remote.request(data: [1], limit: longLimit) }
            }
            let request = try #require(await next(of: port))
            awaitIdleness(of: loop)
            port.invalidate()
            for reply in replies {
                await #expect(throws: MessagePortError.becameInvalid) { try await reply.value }
            }
            request.reply([1])
            #expect(await next(of: port) == nil)
        }
    }

    @Test func aRequestEndsWithoutItsReply() async throws {
        try await withPort { loop, port, place in
            let remote = try place.remote()
            await #expect(throws: MessagePortError.receiveTimedOut) {
                try await remote.request(data: [1], limit: .milliseconds(5))
            }
            _ = await next(of: port)
            let cancelled = Task { try await remote.request(data: [2], limit: longLimit) }
            _ = try #require(await next(of: port))
            let wait = Task { try await remote.request(data: [3], limit: longLimit) }
            cancelled.cancel()
            _ = try? await cancelled.value
            await next(of: port)?.reply([4])
            #expect(try await wait.value == [4])
            #expect(remote.isValid)
        }
    }

    @Test func cancelledRequestsLeaveNothingBehind() async {
        await #expect(processExitsWith: .success) { try await leaveNothingBehind() }
    }

    @Test func aBlockingSenderIsAnsweredByATask() throws {
        try withLoop { loop in
            let place = Place()
            let port = try place.local()
            loop.add(port, forMode: .common)
            Task(executorPreference: loop.taskExecutor) {
                for await request in port.requests where request.message.id == 1 {
                    request.reply(request.message.data)
                }
            }
            let replies = SharedBox<[[UInt8]?]>([])
            let thread = startThread {
                guard let remote = try? place.remote() else { return }
                _ = try? remote.sendOneWay([5], 1)
                let first = try? remote.request([6], id: 1)
                let second = try? remote.request([7], id: 2)
                replies.value = [first, second]
                port.invalidate()
            }
            loop.run { !port.isValid }
            thread.join()
            #expect(replies.value == [[6], nil])
        }
    }
}

private func leaveNothingBehind() async throws {
    await awaitDispatchTimers()
    try await withPort { loop, port, place in
        let remote = try place.remote()
        let server = Task(executorPreference: loop.taskExecutor) {
            for await request in port.requests where request.message.id > 0 {
                request.reply([1])
            }
        }
        // What the threads keep, they have after the first time.
        var counts: [Int] = []
        for _ in 0..<2 {
            for number in 0..<1_000 {
                let request = Task { try await remote.request(data: [], limit: longLimit) }
                if number % 2 == 0 { await Task.yield() }
                request.cancel()
                _ = try? await request.value
            }
            #expect(try await remote.request(id: 1, data: [], limit: longLimit) == [1])
            counts.append(openDescriptorCount())
        }
        #expect(counts[1] <= counts[0])
        port.invalidate()
        await server.value
    }
}

private func withPort<Result>(
    _ limits: MessagePort.Limits = .init(),
    _ body: (UVRunLoop, Local, Place) async throws -> Result
) async throws -> Result {
    let place = Place()
    return try await UVRunLoop.withThread { loop in
        let port = try place.local(limits: limits)
        loop.add(port, forMode: .common)
        return try await body(loop, port, place)
    }
}

private func next(of port: Local) async -> MessagePort.Request? {
    var requests = port.requests.makeAsyncIterator()
    return await requests.next()
}

extension Place {
    /// A local port in this directory, whose requests a task takes.
    fileprivate func local(limits: MessagePort.Limits = .init()) throws -> Local {
        try Local.port(
            PortName("port"),
            in: directory(),
            order: 0,
            limits: limits,
            acceptPeer: nil,
            handler: nil
        )
    }
}

/// Sends in a task on a loop, which a port keeps busy until something has happened and the limit
/// has passed: the timer of the limit comes before the socket then.
private func whileALoopIsBusy(
    until condition: @escaping @Sendable (RemoteConnection) -> Bool,
    send: @escaping @Sendable (Remote, Duration) async throws -> Void,
    serve: @escaping @Sendable (RawPeer) -> Void
) async throws {
    try await UVRunLoop.withThread { loop in
        let (connection, peer, remote) = try Place().connected()
        let limit = Duration.milliseconds(50)
        let busy = UVRunLoop.Port(sendableHandler: { _, _ in
            while !condition(connection) { letTimePass(.milliseconds(1)) }
            letTimePass(limit)
        })
        loop.add(busy, forMode: .common)
        let client = Task(executorPreference: loop.taskExecutor) {
            _ = busy.send(UVRunLoop.PortMessage(id: 1))
            try await send(remote, limit)
        }
        let server = startUncheckedThread { serve(peer) }
        try await client.value
        server.join()
        remote.invalidate()
        busy.invalidate()
    }
}
