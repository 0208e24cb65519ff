import UVRunLoop

extension UVRunLoop.MessagePort.Remote {
    /// Sends a request, and waits for the reply without blocking a thread.
    ///
    /// In a task on a loop's thread, a source in the common modes of that loop receives the reply;
    /// it keeps these modes from being empty meanwhile. Elsewhere a thread does, which the library
    /// starts for all such requests of the process.
    ///
    /// A request that is cancelled or whose limit has passed is withdrawn if nothing of it was
    /// sent, and if all of it was sent, its reply is dropped. If a part was sent, the port becomes
    /// invalid, because no other message could follow.
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
        guard data.count <= Int(UInt32.max) else {
            throw UVRunLoop.MessagePortError.messageTooLarge
        }
        try Task.checkCancellation()
        let own = UVRunLoop.performingJob
        let loop = try own ?? ReplyThread.loop()
        let request = try TaskRequest(.message(id, data, replyName: []), on: connection)
        request.begin(in: loop, limit: limit)
        defer { request.end() }
        return try await UVRunLoop.outcome(of: request.wait, on: own, isolation: isolation) {}
    }
}

/// A request of a task, from sending it to its outcome, as a source of the loop that receives the
/// reply.
private final class TaskRequest: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    let wait: TaskWait<[UInt8]?>
    private let receiver: Receiver
    private let number: UInt64
    private let timer = Guarded<UVRunLoop.Timer?>(nil)

    /// Sends the request, or queues what the socket does not accept.
    init(_ frame: consuming Frame, on connection: RemoteConnection) throws(MessagePortError) {
        let wait = TaskWait<[UInt8]?>()
        let (queued, number) = try connection.beginRequest(frame, from: .task(wait))
        self.wait = wait
        self.number = number
        receiver = Receiver(connection, wait, queued)
        link = UVRunLoop.PortLink(
            descriptor: connection.socket.descriptor.number,
            events: receiver.interest,
            order: 0,
            receiver: receiver
        )
    }

    func begin(in loop: UVRunLoop, limit: Duration) {
        let timer = UVRunLoop.Timer(
            at: .now + limit,
            sendableHandler: { [receiver] _ in
                receiver.limitDidPass()
            }
        )
        self.timer.withLock { $0 = timer }
        loop.add(timer, forMode: .common)
        loop.add(self, forMode: .common)
        // The loop has ended.
        if link.loop == nil { wait.settle(.failure(MessagePortError.threadStopped)) }
    }

    func end() {
        timer.withLock { exchange(&$0, with: nil) }?.invalidate()
        UVRunLoop.invalidate(self)
        receiver.connection.removeRequest(number)
        if let queued = receiver.queued { receiver.connection.withdraw(queued) }
    }

    final class Receiver: TypedPortReceiver {
        // Keeps the socket open while a loop watches it.
        let connection: RemoteConnection
        private let wait: TaskWait<[UInt8]?>
        let queued: FrameQueue.ID?

        init(_ connection: RemoteConnection, _ wait: TaskWait<[UInt8]?>, _ queued: FrameQueue.ID?) {
            self.connection = connection
            self.wait = wait
            self.queued = queued
        }

        private var isQueued: Bool { queued.map { connection.isQueued($0) } ?? false }

        var interest: UVRunLoop.DescriptorSource.Events {
            isQueued ? [.readable, .writable] : .readable
        }

        func checkHome(is thread: ThreadIdentity) {}

        func receive(
            port: TaskRequest,
            _ events: UVRunLoop.DescriptorSource.Events
        ) -> ServeResult {
            guard let queued, isQueued else {
                connection.receive()
                // Another sender may have sent the rest of the request.
                if events.contains(.writable) { port.link.setEvents { .readable } }
                return ServeResult(wasHandled: true)
            }
            do throws(MessagePortError) {
                if try connection.trySending(queued) { port.link.setEvents { .readable } }
            } catch {
                wait.settle(.failure(error))
            }
            return ServeResult(wasHandled: true)
        }

        func limitDidPass() {
            let error: MessagePortError = isQueued ? .sendTimedOut : .receiveTimedOut
            wait.settle(.failure(error))
        }

        func releaseHandler(in loop: UVRunLoop?) {}

        func loopDidEnd(port: TaskRequest) {
            wait.settle(.failure(MessagePortError.threadStopped))
        }
    }
}

/// The thread that receives replies for tasks that are on no loop's thread.
private final class ReplyThread: Sendable {
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
