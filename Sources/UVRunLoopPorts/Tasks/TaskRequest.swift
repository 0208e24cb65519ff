import Synchronization
import UVRunLoop

/// A request or a message of a task, from sending it to its outcome, as a source of the loop that
/// sends it and receives the reply.
final class TaskRequest: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private let wait: TaskWait<[UInt8]?>
    private let receiver: Receiver
    /// The number of the request; `nil` for a message without a reply.
    private let number: UInt64?
    private let limit = Guarded<Limit?>(nil)
    private let stage = Atomic(Stage.awaited)

    private struct Limit {
        let timer: UVRunLoop.Timer
        /// When it passes, in nanoseconds of the monotonic clock.
        let date: Int64
    }

    /// Who ends the request.
    ///
    /// An awaited one is abandoned or expires; either may then be passed on, once. One for the rest
    /// of a frame stays that until it expires.
    private enum Stage: UInt8, AtomicRepresentable {
        /// Its task, when the wait is over.
        case awaited
        /// The loop: its task was cancelled, and only the rest of the frame is to be sent.
        case abandoned
        /// Its task, at once: the limit has passed, the loop has ended or the kernel has refused to
        /// watch the socket.
        case expired
        /// Another request, which sends the rest of the frame on the thread for replies.
        case passedOn
        /// The loop of the thread for replies: this is that other request.
        case rest

        /// Whether nobody waits, and the loop ends the request.
        var isLeftToLoop: Bool { self == .abandoned || self == .rest }
    }

    /// Sends a request, or queues what the socket does not accept.
    convenience init(
        _ frame: consuming Frame,
        on connection: RemoteConnection
    ) throws(MessagePortError) {
        let wait = TaskWait<[UInt8]?>()
        let (queued, number) = try connection.beginRequest(frame, from: .task(wait))
        self.init(connection, wait, queued, number)
    }

    /// Waits until a message is sent, without a reply.
    convenience init(_ queued: FrameQueue.ID, on connection: RemoteConnection) {
        self.init(connection, TaskWait<[UInt8]?>(), queued, nil)
    }

    private init(
        _ connection: RemoteConnection,
        _ wait: TaskWait<[UInt8]?>,
        _ queued: FrameQueue.ID?,
        _ number: UInt64?
    ) {
        self.wait = wait
        self.number = number
        receiver = Receiver(connection, wait, queued, isRequest: number != nil)
        link = UVRunLoop.PortLink(
            descriptor: receiver.socket?.descriptor.number,
            events: receiver.interest,
            order: 0,
            receiver: receiver
        )
    }

    /// Waits for the outcome.
    func outcome(
        _ limit: Duration,
        _ isolation: isolated (any Actor)?
    ) async throws -> [UInt8]? {
        let own = UVRunLoop.performingJob
        do {
            begin(in: try own ?? ReplyThread.loop(), limit: limit)
            let reply = try await UVRunLoop.outcome(of: wait, on: own, isolation: isolation) {}
            end()
            return reply
        } catch {
            end(error)
            throw error
        }
    }

    /// Sends the rest on the thread for replies, although nobody waits for that; ends the connection
    /// if that cannot be done.
    fileprivate func sendRest(until date: Int64) {
        stage.store(.rest, ordering: .sequentiallyConsistent)
        do throws(MessagePortError) {
            begin(in: try ReplyThread.loop(), limit: .nanoseconds(date - monotonicNow()))
        } catch {
            return leave()
        }
        // The loop has ended, or another sender has sent the rest before this was announced.
        if link.loop == nil || !receiver.isQueued { leave() }
    }

    private func begin(in loop: UVRunLoop, limit: Duration) {
        let timer = UVRunLoop.Timer(
            at: loop.instant(after: limit),
            sendableHandler: { [weak self] _ in self?.limitDidPass() }
        )
        self.limit.withLock { $0 = Limit(timer: timer, date: limit.fromNow) }
        loop.add(timer, forMode: .common)
        loop.add(self, forMode: .common)
        if let queued = receiver.queued { receiver.connection.announce(link, whenSent: queued) }
        if loop.hasEnded { wait.settle(.failure(MessagePortError.threadStopped)) }
    }

    /// Ends the request, for which nobody waits any longer.
    ///
    /// If a part of it was sent, and its limit has not passed, the rest is sent all the same, so
    /// that the port remains usable: by its loop, or if that has ended, on the thread for replies.
    private func end(_ error: (any Error)? = nil) {
        let connection = receiver.connection
        let keepsRest = error is CancellationError || error as? MessagePortError == .threadStopped
        let withdrawal = receiver.queued.map { connection.withdraw($0, keepingRest: keepsRest) }
        // One that has timed out was withdrawn already.
        var isSent = error as? MessagePortError != .sendTimedOut
        if case .withdrawn = withdrawal { isSent = false }
        if let number { connection.removeRequest(number, isSent: isSent) }
        guard keepsRest, case .wasPartlySent = withdrawal else { return leave() }
        guard change(to: .abandoned) == .awaited else { return passOn(from: .expired) }
        // The loop may have sent the rest before it could see that.
        guard receiver.isQueued else { return leave() }
        if link.loop == nil { passOn(from: .abandoned) }
    }

    /// Has the thread for replies send the rest of the frame, unless that was done before.
    private func passOn(from former: Stage) {
        guard change(from: former, to: .passedOn) == former, let queued = receiver.queued,
            let date = limit.withLock({ $0?.date })
        else { return }
        leaveLoop()
        guard receiver.connection.reasonOfEnd == nil else { return }
        TaskRequest(queued, on: receiver.connection).sendRest(until: date)
    }

    /// Ends the request, unless its reply has arrived or there is room for the rest of a part that
    /// was sent: that counts, though no pass has come to it.
    private func limitDidPass() {
        let connection = receiver.connection
        guard let queued = receiver.queued else { return replyLimitDidPass() }
        // An error ends the connection.
        _ = try? connection.trySending(queued, isLate: true)
        switch connection.withdraw(queued, of: number) {
        case .wasSent where number == nil: expire(with: .success(nil))
        case .wasSent: replyLimitDidPass()
        case .withdrawn, .wasPartlySent: expire(.sendTimedOut)
        case .connectionEnded(let reason): expire(reason)
        }
    }

    private func replyLimitDidPass() {
        receiver.connection.receiveAll()
        expire(.receiveTimedOut)
    }

    private func expire(_ error: MessagePortError) { expire(with: .failure(error)) }

    /// Nothing in the loop will end the request after this.
    private func expire(with outcome: TaskWait<[UInt8]?>.Outcome) {
        wait.settle(outcome)
        if change(to: .expired).isLeftToLoop { leave() }
    }

    /// Changes a request's stage, if it is the expected one; returns the stage before.
    private func change(from expected: Stage = .awaited, to next: Stage) -> Stage {
        stage.compareExchange(expected: expected, desired: next, ordering: .sequentiallyConsistent)
            .original
    }

    /// Leaves the loop if nobody waits for the request.
    private func leaveIfAbandoned() {
        if stage.load(ordering: .sequentiallyConsistent).isLeftToLoop { leave() }
    }

    /// Leaves the loop, and withdraws what is still queued.
    private func leave() {
        leaveLoop()
        if let queued = receiver.queued { receiver.connection.withdraw(queued) }
    }

    private func leaveLoop() {
        limit.withLock { $0?.timer }?.invalidate()
        UVRunLoop.invalidate(self)
        if let queued = receiver.queued { receiver.connection.forget(link, of: queued) }
    }

    fileprivate func loopDidEnd() {
        wait.settle(.failure(MessagePortError.threadStopped))
        switch change(to: .expired) {
        case .abandoned: passOn(from: .abandoned)
        case .rest: leave()
        case .awaited, .expired, .passedOn: break
        }
    }

    final class Receiver: PortReceiver {
        let connection: RemoteConnection
        // Keeps the socket open while a loop watches it.
        let socket: SharedSocket?
        private let wait: TaskWait<[UInt8]?>
        let queued: FrameQueue.ID?
        private let isRequest: Bool

        init(
            _ connection: RemoteConnection,
            _ wait: TaskWait<[UInt8]?>,
            _ queued: FrameQueue.ID?,
            isRequest: Bool
        ) {
            self.connection = connection
            socket = connection.socket
            self.wait = wait
            self.queued = queued
            self.isRequest = isRequest
        }

        var isQueued: Bool { queued.map { connection.isQueued($0) } ?? false }

        /// The events to watch the socket for at first.
        ///
        /// A frame that was queued may be sent by another sender, which announces the port then.
        var interest: UVRunLoop.DescriptorEvents {
            queued == nil ? .readable : [.readable, .writable]
        }

        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        func receive(
            port: TaskRequest,
            _ events: UVRunLoop.DescriptorEvents
        ) -> ServeResult {
            if let queued, isQueued || !isRequest {
                // An error has ended the connection.
                if case true? = try? connection.trySending(queued) { didSend(port) }
            } else {
                connection.receive()
                // Another sender has sent the rest of the request.
                if events != .readable { didSend(port) }
            }
            leaveEndedConnection(port)
            return ServeResult(wasHandled: true)
        }

        /// Ends the request with its connection.
        ///
        /// Its task may have no turn for a long time, and a socket reports its end, and what nobody
        /// reads any more, for as long as it is watched: that would keep the loop busy.
        private func leaveEndedConnection(_ port: TaskRequest) {
            guard let reason = connection.reasonOfEnd else { return }
            wait.settle(.failure(reason))
            port.leave()
        }

        /// Nothing tells of a reply or of room to send, so the request fails.
        func receive(port: TaskRequest, refusal error: UVError) -> ServeResult {
            // The reply may be there already.
            connection.receive()
            port.expire(MessagePortError(error))
            return ServeResult(wasHandled: true)
        }

        /// All of the frame is sent.
        private func didSend(_ port: TaskRequest) {
            port.link.setEvents { .readable }
            if !isRequest { wait.settle(.success(nil)) }
            port.leaveIfAbandoned()
        }

        func releaseHandler() {}

        func loopDidEnd(port: TaskRequest) { port.loopDidEnd() }
    }
}

extension RemoteConnection {
    /// Withdraws a frame for which a thread no longer waits.
    ///
    /// If a part of it was sent, the rest of one that was cancelled is still sent, up to a date;
    /// for another reason the connection ends.
    ///
    /// - Returns: Whether nothing of it was sent.
    @discardableResult
    func giveUp(_ queued: FrameQueue.ID, until date: Int64, _ reason: MessagePortError) -> Bool {
        let isCancelled = reason == .cancelled
        switch withdraw(queued, keepingRest: isCancelled) {
        case .withdrawn: return true
        case .wasSent, .connectionEnded: return false
        case .wasPartlySent:
            if isCancelled { TaskRequest(queued, on: self).sendRest(until: date) }
            return false
        }
    }
}
