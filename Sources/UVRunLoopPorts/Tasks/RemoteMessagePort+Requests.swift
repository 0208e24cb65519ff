import UVRunLoop

extension UVRunLoop.MessagePort.Remote {
    /// Sends a request, and waits for the reply without blocking a thread.
    ///
    /// In a task on a loop's thread, that loop receives the reply in its common modes, which the
    /// request keeps from being empty. Elsewhere a thread does, which the library starts for all such
    /// requests of the process. The requests of one loop share one source, which goes on to watch the
    /// port's socket after the last of them.
    ///
    /// When the task is cancelled, the limit passes or the loop ends, the request is withdrawn if
    /// nothing of it was sent; if all of it was sent, its reply is dropped. If a part was sent, the
    /// rest is still sent, although nobody waits for it. At the limit, the port becomes invalid
    /// then, because no other message could follow.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - id: The message's id, as agreed with the receiver.
    ///   - data: The message's data.
    ///   - limit: How long sending and the reply may take together.
    ///   - isolation: The caller's actor.
    /// - Returns: The reply; `nil` is a reply without data, which differs from empty data.
    /// - Throws: ``UVRunLoop/MessagePortError``; `CancellationError` if the task is cancelled.
    public func request(
        id: Int32 = 0,
        data: [UInt8],
        limit: Duration = defaultLimit,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> [UInt8]? {
        guard data.count <= Frame.largestPayload else {
            throw UVRunLoop.MessagePortError.messageTooLarge
        }
        try Task.checkCancellation()
        let request = try TaskRequest(.message(id, data, replyName: []), on: connection)
        return try await request.outcome(limit, isolation)
    }

    /// Sends a message, and waits until the kernel has accepted all of it, without blocking a
    /// thread.
    ///
    /// The handler's result is dropped. The message usually fits into the socket, and this returns
    /// at once.
    ///
    /// When the task is cancelled, the limit passes or the loop ends, the message is withdrawn if
    /// nothing of it was sent. If a part was sent, the rest is still sent, although nobody waits
    /// for it. At the limit, the port becomes invalid then, because no other message could follow.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - id: The message's id, as agreed with the receiver.
    ///   - data: The message's data.
    ///   - replyPort: A port of this process for later replies.
    ///   - limit: How long sending may take.
    ///   - isolation: The caller's actor.
    /// - Throws: ``UVRunLoop/MessagePortError``; `CancellationError` if the task is cancelled.
    public func send(
        id: Int32 = 0,
        data: [UInt8],
        replyPort: UVRunLoop.MessagePort.Local? = nil,
        limit: Duration = defaultLimit,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        guard data.count <= Frame.largestPayload else {
            throw UVRunLoop.MessagePortError.messageTooLarge
        }
        try Task.checkCancellation()
        let name = replyPort.map { Array($0.name.utf8) } ?? []
        let frame = Frame.message(id, data, replyName: name)
        guard let queued = try connection.beginSending(frame) else { return }
        _ = try await TaskRequest(queued, on: connection).outcome(limit, isolation)
    }
}

/// The thread that receives replies for tasks that are on no loop's thread.
final class ReplyThread: Sendable {
    private static let current = PerProcess { ReplyThread() }

    private let thread = Guarded<UVRunLoop.Thread?>(nil)

    /// The loop of the thread, which is started by the first call.
    static func loop() throws(MessagePortError) -> UVRunLoop { try current.current.loop() }

    private func loop() throws(MessagePortError) -> UVRunLoop {
        if let thread = thread.withLock({ $0 }) { return thread.runLoop }
        let made: UVRunLoop.Thread
        do throws(RunLoopError) {
            made = try UVRunLoop.Thread(name: "port-replies", stackSize: 256 << 10)
        } catch {
            throw error.underlying.map(MessagePortError.init) ?? .noDescriptorsLeft
        }
        let thread = self.thread.withLock { thread -> UVRunLoop.Thread in
            if thread == nil { thread = made }
            return thread ?? made
        }
        if thread !== made { made.stop() }
        return thread.runLoop
    }
}
