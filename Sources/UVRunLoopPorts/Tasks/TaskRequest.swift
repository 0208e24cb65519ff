import Synchronization
import UVRunLoop

/// A request or a message of a task, from sending it to its outcome, as a source of the loop that
/// sends it and receives the reply.
///
/// The loop's ``RequestSource`` for the connection uses the socket. This source keeps the modes from
/// being empty, and is announced when all of its frame is sent.
final class TaskRequest: UVRunLoop.PortSource {
    let link: UVRunLoop.PortLink
    private let connection: RemoteConnection
    private let wait: TaskWait<[UInt8]?>
    /// The frame, if it was queued.
    private let queued: FrameQueue.ID?
    /// The number of the request; `nil` for a message without a reply.
    private let number: UInt64?
    private let place = Guarded(Place())
    private let stage = Atomic(Stage.awaited)

    /// What a request has in its loop.
    private struct Place {
        var limit: UVRunLoop.Timer?
        /// When the limit passes, in nanoseconds of the monotonic clock.
        var date: Int64?
        var source: RequestSource?
        /// Whether it has left the loop, perhaps before it was completely there.
        var isLeft = false
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
        self.connection = connection
        self.wait = wait
        self.queued = queued
        self.number = number
        link = UVRunLoop.PortLink(descriptor: nil, events: [], order: 0, receiver: Receiver())
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
    func sendRest(until date: Int64) {
        stage.store(.rest, ordering: .sequentiallyConsistent)
        do throws(MessagePortError) {
            begin(in: try ReplyThread.loop(), limit: .nanoseconds(date - monotonicNow()))
        } catch {
            return leave()
        }
        // The loop has ended, or another sender has sent the rest before this was announced.
        if link.loop == nil || !isQueued { leave() }
    }

    private func begin(in loop: UVRunLoop, limit: Duration) {
        let timer = UVRunLoop.Timer(
            at: loop.instant(after: limit),
            sendableHandler: { [weak self] _ in self?.limitDidPass() }
        )
        place.withLock { place in
            place.limit = timer
            place.date = limit.fromNow
        }
        loop.add(self, forMode: .common)
        let source = connection.join(self, in: loop)
        place.withLock { $0.source = source }
        if let queued { connection.announce(link, whenSent: queued) }
        // It may have ended before the source could tell this request. The limit, which may end it,
        // too, and has an error of its own, begins after this.
        if let reason = connection.reasonOfEnd { connectionDidEnd(reason) }
        loop.add(timer, forMode: .common)
        if loop.hasEnded { wait.settle(.failure(MessagePortError.threadStopped)) }
        if place.withLock({ $0.isLeft }) { leaveLoop() }
    }

    /// Ends the request, for which nobody waits any longer.
    ///
    /// If a part of it was sent, and its limit has not passed, the rest is sent all the same, so
    /// that the port remains usable: by its loop, or if that has ended, on the thread for replies.
    private func end(_ error: (any Error)? = nil) {
        let keepsRest = error is CancellationError || error as? MessagePortError == .threadStopped
        let withdrawal = queued.map { connection.withdraw($0, keepingRest: keepsRest) }
        if let number { connection.removeRequest(number) }
        guard keepsRest, case .wasPartlySent = withdrawal else { return leave() }
        guard change(to: .abandoned) == .awaited else { return passOn(from: .expired) }
        // The loop may have sent the rest before it could see that.
        guard isQueued else { return leave() }
        if link.loop == nil { passOn(from: .abandoned) }
    }

    /// Has the thread for replies send the rest of the frame, unless that was done before.
    private func passOn(from former: Stage) {
        guard change(from: former, to: .passedOn) == former, let queued,
            let date = place.withLock({ $0.date })
        else { return }
        leaveLoop()
        guard connection.reasonOfEnd == nil else { return }
        TaskRequest(queued, on: connection).sendRest(until: date)
    }

    /// Ends the request, unless its reply has arrived or there is room for the rest of a part that
    /// was sent: that counts, though no pass has come to it.
    private func limitDidPass() {
        guard let queued else { return replyLimitDidPass() }
        // An error ends the connection.
        _ = try? connection.trySending(queued, isLate: true)
        let timedOut = TaskWait<[UInt8]?>.Outcome.failure(MessagePortError.sendTimedOut)
        // Before the connection ends, which is another outcome.
        let withdrawal = connection.withdraw(queued) { wait.settle(timedOut) }
        switch withdrawal {
        case .wasSent where number == nil: expire(with: .success(nil))
        case .wasSent: replyLimitDidPass()
        case .withdrawn, .wasPartlySent: expire(with: timedOut)
        case .connectionEnded(let reason): expire(reason)
        }
    }

    private func replyLimitDidPass() {
        connection.receiveAll()
        expire(.receiveTimedOut)
    }

    /// Ends the request with an error, unless another thread has read its reply or ended its
    /// connection, and is about to settle it, or has withdrawn it for its task, which is over.
    func expire(_ error: MessagePortError) {
        // One that is still queued is removed when it is withdrawn.
        guard let number, !isQueued else { return expire(with: .failure(error)) }
        let isOpen = connection.removeRequest(number)
        expire(with: isOpen ? .failure(error) : nil)
    }

    /// Nothing in the loop will end the request after this.
    private func expire(with outcome: TaskWait<[UInt8]?>.Outcome?) {
        if let outcome { wait.settle(outcome) }
        if change(to: .expired).isLeftToLoop { leave() }
    }

    /// Changes a request's stage, if it is the expected one; returns the stage before.
    private func change(from expected: Stage = .awaited, to next: Stage) -> Stage {
        stage.compareExchange(expected: expected, desired: next, ordering: .sequentiallyConsistent)
            .original
    }

    /// Ends a message with its connection, unless its frame was sent before; and what the loop has
    /// of the request, whose outcome the end of the connection is.
    ///
    /// Its task may have no turn for a long time; until then it needs nothing of the loop.
    func connectionDidEnd(_ reason: MessagePortError) {
        didSendFrame()
        if number == nil { wait.settle(.failure(reason)) }
        leave()
    }

    private var isQueued: Bool { queued.map { connection.isQueued($0) } ?? false }

    /// Ends a message, and a request for which nobody waits, if all of the frame is sent.
    private func didSendFrame() {
        guard let queued, connection.wasSent(queued) else { return }
        if number == nil { wait.settle(.success(nil)) }
        if stage.load(ordering: .sequentiallyConsistent).isLeftToLoop { leave() }
    }

    /// Leaves the loop, and withdraws what is still queued.
    private func leave() {
        leaveLoop()
        if let queued { connection.withdraw(queued) }
    }

    private func leaveLoop() {
        let place = place.withLock { place in
            place.isLeft = true
            return place
        }
        place.limit?.invalidate()
        UVRunLoop.invalidate(self)
        if let queued { connection.forget(link, of: queued) }
        if let source = place.source { connection.leave(self, source) }
    }

    private func loopDidEnd() {
        wait.settle(.failure(MessagePortError.threadStopped))
        switch change(to: .expired) {
        case .abandoned: passOn(from: .abandoned)
        case .rest: leave()
        case .awaited, .expired, .passedOn: break
        }
    }

    private final class Receiver: PortReceiver {
        func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {}

        /// The frame was sent.
        func receive(
            port: TaskRequest,
            _ events: UVRunLoop.DescriptorEvents
        ) -> ServeResult {
            port.didSendFrame()
            return ServeResult(wasHandled: true)
        }

        func releaseHandler() {}

        func loopDidEnd(port: TaskRequest) { port.loopDidEnd() }
    }
}
