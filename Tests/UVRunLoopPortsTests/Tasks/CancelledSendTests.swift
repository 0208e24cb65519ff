import Glibc
import TestSupport
import Testing

@testable import UVRunLoop
@testable import UVRunLoopPorts

/// Longer than a test waits for its turn on a busy machine.
private let longLimit = Duration.seconds(900)

/// Tasks that are cancelled while they send over a message port: nothing is half sent, and the port
/// remains usable.
@Suite(.timeLimit(.minutes(15))) struct CancelledSendTests {
    @Test func aMessageThatFitsIsSentAtOnce() async throws {
        try await withStage { stage in
            try await stage.remote.send(id: 7, data: [1, 2])
            stage.serve()
            try await stage.awaitMessages(1)
            #expect(stage.log.entries == ["7: 2 bytes"])
        }
    }

    @Test func aMessageWaitsUntilTheOtherSideReads() async throws {
        try await withStage { stage in
            let task = stage.task(1, count: 8 << 20)
            try await stage.awaitFullSocket()
            stage.serve()
            #expect(await task.result.failure == nil)
            try await stage.awaitMessages(1)
            #expect(stage.log.entries == ["1: 8388608 bytes"])
        }
    }

    @Test(arguments: [true, false])
    func theRestOfACancelledMessageIsSent(isRequest: Bool) async throws {
        try await withStage { stage in
            let task = stage.task(1, count: 8 << 20, isRequest: isRequest)
            try await stage.awaitFullSocket()
            task.cancel()
            #expect(await task.result.failure is CancellationError)
            stage.serve()
            // Nobody sends meanwhile.
            try await stage.awaitMessages(1)
            let reply = try await stage.remote.request(id: 2, data: [], limit: longLimit)
            #expect(reply == [2])
            #expect(stage.log.entries == ["1: 8388608 bytes", "2: 0 bytes"])
            #expect(stage.remote.isValid)
        }
    }

    @Test(arguments: [true, false])
    func aCancelledMessageOfWhichNothingIsSentIsWithdrawn(isRequest: Bool) async throws {
        try await withStage { stage in
            let first = stage.task(1, count: 8 << 20)
            try await stage.awaitFullSocket()
            let second = stage.task(2, count: 10, isRequest: isRequest)
            for _ in 0..<100 { await Task.yield() }
            second.cancel()
            #expect(await second.result.failure is CancellationError)
            stage.serve()
            #expect(await first.result.failure == nil)
            let reply = try await stage.remote.request(id: 3, data: [], limit: longLimit)
            #expect(reply == [3])
            #expect(stage.log.entries == ["1: 8388608 bytes", "3: 0 bytes"])
        }
    }

    @Test func aCancelledMessageThatIsNotReadByItsLimitEndsTheConnection() async throws {
        try await withStage { stage in
            let task = stage.task(1, count: 8 << 20, limit: .milliseconds(200))
            try await stage.awaitFullSocket()
            task.cancel()
            _ = await task.result
            try await yield(until: { !stage.remote.isValid })
            await #expect(throws: MessagePortError.isInvalid) {
                try await stage.remote.send(data: [])
            }
        }
    }

    @Test(arguments: [true, false])
    func theLimitCountsThatPassesBeforeACancelledTaskHasItsTurn(isRequest: Bool) async throws {
        try await withStage { stage in
            let executor = HeldExecutor()
            let limit = Duration.milliseconds(20)
            let task = stage.task(
                1,
                count: 8 << 20,
                isRequest: isRequest,
                limit: limit,
                on: executor
            )
            executor.performNext()
            let begin = ContinuousClock.now
            task.cancel()
            try await ContinuousClock().sleep(until: begin + limit)
            try awaitDueTimers(of: ReplyThread.loop())
            executor.release()
            // On a busy machine the limit may have passed before the task was cancelled.
            #expect(await task.result.failure != nil)
            #expect(!stage.remote.isValid)
        }
    }

    @Test(arguments: [true, false])
    func aMessageThatIsNotReadByItsLimitFails(isRequest: Bool) async throws {
        try await withStage { stage in
            let task = stage.task(1, count: 8 << 20, isRequest: isRequest, limit: .milliseconds(1))
            #expect(await task.result.failure as? MessagePortError == .sendTimedOut)
            #expect(!stage.remote.isValid)
        }
    }

    @Test func anotherRequestFailsBecauseOfTheConnection() async throws {
        try await withStage { stage in
            let first = stage.task(1, count: 8 << 20, isRequest: true, limit: .milliseconds(50))
            try await stage.awaitFullSocket()
            let second = stage.task(2, count: 9, isRequest: true)
            #expect(await first.result.failure as? MessagePortError == .sendTimedOut)
            let error = await second.result.failure as? MessagePortError
            // It may not have begun before the connection ended.
            #expect(error == .becameInvalid || error == .isInvalid)
        }
    }

    @Test func theEndOfThePortEndsTheWait() async throws {
        try await withStage { stage in
            let task = stage.task(1, count: 8 << 20)
            try await stage.awaitFullSocket()
            stage.remote.invalidate()
            #expect(await task.result.failure as? MessagePortError == .becameInvalid)
        }
    }

    @Test(arguments: [true, false])
    func aThreadThatBlocksInACancelledTaskGoesOn(isRequest: Bool) async throws {
        try await withStage { stage in
            try await UVRunLoop.withThread { blocked in
                let first = stage.blockingTask(1, count: 8 << 20, on: blocked, isRequest: isRequest)
                try await stage.awaitFullSocket()
                first.cancel()
                #expect(await first.result.failure as? MessagePortError == .cancelled)
                let second = stage.blockingTask(2, count: 9, on: blocked, isRequest: isRequest)
                for _ in 0..<100 { await Task.yield() }
                second.cancel()
                #expect(await second.result.failure as? MessagePortError == .cancelled)
            }
            stage.serve()
            try await stage.awaitMessages(1)
            let reply = try await stage.remote.request(id: 3, data: [], limit: longLimit)
            #expect(reply == [3])
            #expect(stage.log.entries == ["1: 8388608 bytes", "3: 0 bytes"])
        }
    }

    @Test func aThreadThatWaitsForAReplyInACancelledTaskGoesOn() async throws {
        try await withStage { stage in
            try await UVRunLoop.withThread { blocked in
                let task = stage.blockingTask(1, count: 2, on: blocked, isRequest: true)
                for _ in 0..<100 { await Task.yield() }
                task.cancel()
                #expect(await task.result.failure as? MessagePortError == .cancelled)
            }
            #expect(stage.remote.isValid)
        }
    }

    @Test func cancellationAtAnyMomentLeavesThePortUsable() async throws {
        try await withStage { stage in
            stage.serve()
            for number in 0..<300 {
                let task = stage.task(1, count: 300_000, isRequest: number.isMultiple(of: 3))
                for _ in 0..<number % 20 { await Task.yield() }
                task.cancel()
                _ = await task.result
            }
            let reply = try await stage.remote.request(id: 2, data: [], limit: longLimit)
            #expect(reply == [2])
            #expect(stage.log.entries.dropLast().allSatisfy { $0 == "1: 300000 bytes" })
        }
    }
}

/// A local port that is served when a test says so, and a remote port to it.
private final class Stage: Sendable {
    let remote: Remote
    let log = EventLog()
    private let port: Local
    private let loop: UVRunLoop
    private let place = Place()

    init(_ loop: UVRunLoop) throws {
        let log = log
        port = try place.local { _, message in
            log.note("\(message.id): \(message.data.count) bytes")
            return [UInt8(message.id)]
        }
        remote = try place.remote()
        self.loop = loop
    }

    func serve() { loop.add(port, forMode: .common) }

    /// Sends bytes in a task of the runtime.
    func task(
        _ id: Int32,
        count: Int,
        isRequest: Bool = false,
        limit: Duration = longLimit,
        on executor: (any TaskExecutor)? = nil
    ) -> Task<Void, any Error> {
        Task(executorPreference: executor) { [remote] in
            let data = [UInt8](repeating: 1, count: count)
            if isRequest {
                _ = try await remote.request(id: id, data: data, limit: limit)
            } else {
                try await remote.send(id: id, data: data, limit: limit)
            }
        }
    }

    /// Sends bytes in a task that blocks the thread of a loop.
    func blockingTask(
        _ id: Int32,
        count: Int,
        on loop: UVRunLoop,
        isRequest: Bool
    ) -> Task<Void, any Error> {
        Task(executorPreference: loop.taskExecutor) { [remote] in
            let data = [UInt8](repeating: 1, count: count)
            if isRequest {
                _ = try remote.request(data, id: id, sendLimit: longLimit, receiveLimit: longLimit)
            } else {
                try sendBlocking(data, id, to: remote)
            }
        }
    }

    /// Waits until the socket accepts nothing more: a part of a message was sent.
    func awaitFullSocket() async throws {
        try await yield(until: { !remote.isValid || !remote.connection.hasRoom })
    }

    func awaitMessages(_ count: Int) async throws {
        try await yield(until: { log.count >= count })
    }

    func end() {
        remote.invalidate()
        port.invalidate()
    }
}

private func sendBlocking(_ data: [UInt8], _ id: Int32, to remote: Remote) throws {
    _ = try remote.send(id: id, data: data, sendLimit: longLimit)
}

/// Waits until a loop has fired the timers that are due now.
private func awaitDueTimers(of loop: UVRunLoop) throws {
    // The second block comes after the pass of the first one.
    for _ in 0..<2 { try loop.performAndWait {} }
}

private func withStage(_ body: (Stage) async throws -> Void) async throws {
    try await UVRunLoop.withThread { loop in
        let stage = try Stage(loop)
        defer { stage.end() }
        try await body(stage)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
