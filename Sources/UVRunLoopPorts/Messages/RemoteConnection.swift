import UVRunLoop

/// The connection of a remote port, shared by all threads that send.
///
/// There is no dedicated thread: a thread that sends also sends what others have queued, and one
/// that waits for a reply also receives replies for others and notifies their loops.
final class RemoteConnection: Sendable {
    let state: Guarded<State>
    private let didEnd: @Sendable () -> Void
    private let process = OwnerProcess()

    /// `didEnd` is called once, without a lock, when the connection has ended.
    init(_ socket: SharedSocket, maximumReply: Int, didEnd: @escaping @Sendable () -> Void) {
        let parser = FrameParser(side: .remote, maximumPayload: maximumReply)
        state = Guarded(State(socket, parser))
        self.didEnd = didEnd
    }

    var isOpen: Bool { isOfThisProcess && reasonOfEnd == nil }

    /// The socket, which stays open for as long as the caller keeps it; `nil` once the connection
    /// has ended.
    var socket: SharedSocket? { state.withLock { $0.socket } }

    /// The reason why the connection has ended; `nil` while it is open.
    var reasonOfEnd: MessagePortError? { state.withLock { $0.end } }

    /// A forked child inherits the object; the connection stays its parent's.
    var isOfThisProcess: Bool { process.isCurrent }

    private func checkProcess() throws(MessagePortError) {
        guard isOfThisProcess else { throw .isInvalid }
    }

    // MARK: Sending

    /// The result of sending a frame.
    private enum SendResult: Sendable {
        case done
        /// A part of the frame is queued.
        case queued(FrameQueue.ID)
        /// The other side no longer receives.
        case failed
    }

    /// Sends a message, or queues what the socket does not accept.
    ///
    /// - Returns: The queued frame; `nil` if it was sent completely.
    func beginSending(_ frame: Frame) throws(MessagePortError) -> FrameQueue.ID? {
        try checkProcess()
        let result = try state.withLock { state throws(MessagePortError) -> SendResult in
            guard let socket = state.socket else { throw .isInvalid }
            return send(frame, to: socket, &state)
        }
        return try id(of: result)
    }

    /// Sends a message as a request, and registers it for its reply.
    func beginRequest(
        _ frame: consuming Frame,
        from sender: Sender
    ) throws(MessagePortError) -> (queued: FrameQueue.ID?, number: UInt64) {
        try checkProcess()
        var frame = frame
        frame.kind = .request
        let (result, number) = try state.withLock {
            [frame] state throws(MessagePortError) -> (SendResult, UInt64) in
            guard let socket = state.socket else { throw .isInvalid }
            state.lastNumber += 1
            state.insert(state.lastNumber, from: sender)
            var frame = frame
            frame.number = state.lastNumber
            return (send(frame, to: socket, &state), state.lastNumber)
        }
        do throws(MessagePortError) {
            return (try id(of: result), number)
        } catch {
            removeRequest(number)
            throw error
        }
    }

    private func send(
        _ frame: Frame,
        to socket: SharedSocket,
        _ state: inout State
    ) -> SendResult {
        do throws(UVError) {
            let queued = try state.sendQueue.send(frame, to: socket.descriptor)
            return queued.map(SendResult.queued) ?? .done
        } catch {
            return .failed
        }
    }

    private func id(of result: SendResult) throws(MessagePortError) -> FrameQueue.ID? {
        switch result {
        case .done: return nil
        case .queued(let id): return id
        case .failed: throw otherSideHasClosed()
        }
    }

    /// Ends the connection; returns the reason, which the other side may have sent before it closed.
    @discardableResult
    private func otherSideHasClosed() -> MessagePortError {
        receiveAll()
        return end(.becameInvalid) ?? .becameInvalid
    }

    /// Sends queued frames, as much as the socket accepts.
    ///
    /// A late one, whose limit has passed, is not begun: that could only end the connection.
    ///
    /// - Returns: Whether a frame was sent completely.
    func trySending(_ id: FrameQueue.ID, isLate: Bool = false) throws(MessagePortError) -> Bool {
        // Only one read: a peer may send faster than this side reads.
        receive()
        if !isLate || state.withLock({ $0.sendQueue.isPartlySent(id) }) { sendQueuedFrames() }
        return try state.withLock { state throws(MessagePortError) in
            if state.isDone(id) { return true }
            if let reason = state.end { throw reason }
            return false
        }
    }

    /// Sends queued frames, as much as the socket accepts.
    func sendQueuedFrames() {
        let (isSound, sent) = state.withLock { ($0.flush(), $0.takeSourcesOfSent()) }
        for link in sent { link.announce() }
        if !isSound { otherSideHasClosed() }
    }

    /// Has a source announced when a frame is sent completely.
    func announce(_ link: UVRunLoop.PortLink, whenSent id: FrameQueue.ID) {
        let isQueued = state.withLock { $0.insert(link, until: id) }
        if !isQueued { link.announce() }
    }

    /// Has a source announced no more when a frame is sent.
    func forget(_ link: UVRunLoop.PortLink, of id: FrameQueue.ID) {
        state.withLock { $0.remove(link, of: id) }
    }

    /// Withdraws a message whose sender waits no longer; ends the connection if a part of it was
    /// sent, unless the rest is still to be sent.
    ///
    /// Under one lock, so that no other sender sends the rest after its own got another result. A
    /// request is removed under it, too, unless the rest is still to be sent: one that is there has
    /// been sent, or will be. Its sender ends it, at the latest in `willEnd`: the end of the
    /// connection fails only the others.
    @discardableResult
    func withdraw(
        _ id: FrameQueue.ID,
        keepingRest keepsRest: Bool = false,
        willEnd: () -> Void = {}
    ) -> Withdrawal {
        let (result, remains) = state.withLock { state -> (Withdrawal, Remains?) in
            if state.isDone(id) { return (.wasSent, nil) }
            if let reason = state.end { return (.connectionEnded(reason), nil) }
            let request = state.sendQueue.request(of: id)
            let isUnsent = state.sendQueue.withdraw(id)
            if !isUnsent, keepsRest { return (.wasPartlySent, nil) }
            if let request { _ = state.remove(request) }
            return isUnsent
                ? (.withdrawn, nil) : (.wasPartlySent, state.end(for: .becameInvalid))
        }
        if let remains {
            willEnd()
            didEnd(.becameInvalid, remains)
        }
        return result
    }

    /// Ends a send whose limit has passed.
    ///
    /// - Throws: An error, unless the message was sent.
    func expire(_ id: FrameQueue.ID) throws(MessagePortError) {
        switch withdraw(id) {
        case .wasSent: return
        case .withdrawn, .wasPartlySent: throw .sendTimedOut
        case .connectionEnded(let reason): throw reason
        }
    }

    /// Whether all of a frame that was queued is sent; it was not withdrawn.
    func wasSent(_ id: FrameQueue.ID) -> Bool { state.withLock { $0.isDone(id) } }

    /// Whether a queued frame, or a part of it, is still to be sent.
    func isQueued(_ id: FrameQueue.ID) -> Bool { state.withLock { $0.sendQueue.contains(id) } }

    // MARK: Replies

    /// Takes the outcome of a request; `isThere` is `false` while there is none.
    func takeOutcome(
        of number: UInt64
    ) throws(MessagePortError) -> (data: [UInt8]?, isThere: Bool) {
        let outcome = state.withLock { state -> Outcome in
            guard let index = state.index(of: number) else { return .failed(.becameInvalid) }
            if state.requests[index].isOpen { return .open }
            // Nested waits end innermost first, so the last element is the common case.
            let isLast = index == state.requests.count - 1
            return (isLast ? state.requests.removeLast() : state.requests.remove(at: index)).outcome
        }
        switch outcome {
        case .open: return (nil, false)
        case .reply(let data): return (data, true)
        case .failed(let error): throw error
        }
    }

    /// Whether a request has an outcome, or none to come.
    func hasOutcome(of number: UInt64) -> Bool {
        state.withLock { state in state.index(of: number).map { !state.requests[$0].isOpen } ?? true
        }
    }

    /// Whether there is an outcome that a sender in the source's loop has not taken.
    func hasOutcome(for source: ReplySource) -> Bool {
        state.withLock { $0.hasOutcome(for: source) }
    }

    /// The reader's work after a read, without the lock.
    private struct ReadOutcome: Sendable {
        /// Whether there may be more to read.
        var mayHaveMore = false
        var replySources: [ReplySource] = []
        /// Tasks whose requests have an outcome.
        var settled: [(task: TaskWait<[UInt8]?>, outcome: Result<[UInt8]?, any Error>)] = []
        /// Why the connection has ended, if it has.
        var reason: MessagePortError?
    }

    /// Reads once and dispatches what was received.
    ///
    /// - Returns: Whether there may be more.
    @discardableResult
    func receive() -> Bool {
        deliver(state.withLock { read(&$0, for: nil) })
    }

    /// Reads once on behalf of a loop that is being served, and so needs no notification.
    ///
    /// - Returns: Whether there is an outcome for a sender in that loop.
    func receive(for own: ReplySource) -> Bool {
        let (outcome, hasOutcome) = state.withLock { state in
            let outcome = read(&state, for: own)
            return (outcome, state.hasOutcome(for: own))
        }
        _ = deliver(outcome)
        return hasOutcome || (outcome.reason != nil && self.hasOutcome(for: own))
    }

    private func read(_ state: inout State, for own: ReplySource?) -> ReadOutcome {
        var outcome = ReadOutcome()
        guard let socket = state.socket else { return outcome }
        do throws(UVError) {
            let input = try socket.descriptor.read { bytes in
                dispatch(bytes, &state, &outcome, except: own)
            }
            switch input {
            case .wouldBlock: return outcome
            case .end: outcome.reason = .becameInvalid
            case .bytes(let reason): outcome.reason = reason
            }
        } catch {
            outcome.reason = error == .connectionReset ? .becameInvalid : MessagePortError(error)
        }
        outcome.mayHaveMore = outcome.reason == nil
        return outcome
    }

    /// - Returns: Whether there may be more.
    private func deliver(_ outcome: ReadOutcome) -> Bool {
        for source in outcome.replySources { source.announce() }
        for (task, outcome) in outcome.settled { task.settle(outcome) }
        if let reason = outcome.reason { end(reason) }
        return outcome.mayHaveMore
    }

    /// Reads what has arrived, but not for as long as a peer goes on to send.
    func receiveAll() {
        for _ in 0..<64 where !receive() { return }
    }

    /// - Returns: Why the connection has ended, if it has.
    private func dispatch(
        _ bytes: RawSpan,
        _ state: inout State,
        _ read: inout ReadOutcome,
        except own: ReplySource?
    ) -> MessagePortError? {
        var position = 0
        do throws(FrameError) {
            while let frame = try state.parser.next(in: bytes, from: &position) {
                let outcome: Outcome
                if frame.kind == .reply {
                    outcome = .reply(frame.data)
                } else {
                    let error = MessagePortError(RefusalReason(rawValue: frame.id))
                    if frame.number == 0 { return error }
                    outcome = .failed(error)
                }
                if let task = state.tasks.removeValue(forKey: frame.number) {
                    if let outcome = outcome.result { read.settled.append((task, outcome)) }
                } else if let index = state.index(of: frame.number) {
                    // Not a second response, before its sender has taken the first.
                    guard state.requests[index].isOpen else { continue }
                    state.requests[index].outcome = outcome
                    let source = state.requests[index].source
                    if source !== own { read.replySources.append(source) }
                } else {
                    state.lateReplies = max(0, state.lateReplies - 1)
                }
            }
            return nil
        } catch {
            if case .payloadTooLarge = error { return .messageTooLarge }
            return .malformedFrame
        }
    }

    // MARK: Reply sources

    /// The source that notifies a loop of its replies, made at the loop's first wait.
    func replySource(for loop: UVRunLoop) -> ReplySource {
        let existing = state.withLock { $0.replySources.first { $0.loop === loop } }
        if let existing { return existing }
        // Only the loop's own thread makes its source, so none is made concurrently.
        let source = ReplySource(self, loop)
        guard isOfThisProcess else { return source }
        let isOpen = state.withLock { state in
            if state.end == nil { state.replySources.append(source) }
            return state.end == nil
        }
        if isOpen { source.park() }
        return source
    }

    func remove(_ source: ReplySource) {
        state.withLock { state in state.replySources.removeAll { $0 === source } }
    }

    // MARK: Closing

    /// Ends the connection and fails all pending requests.
    ///
    /// - Returns: The earlier reason, if the connection had already ended.
    @discardableResult
    func end(_ reason: MessagePortError) -> MessagePortError? {
        guard isOfThisProcess else { return nil }
        let (remains, earlier) = state.withLock { state in
            let earlier = state.end
            return (state.end(for: reason), earlier)
        }
        if let remains { didEnd(reason, remains) }
        return earlier
    }

    private func didEnd(_ reason: MessagePortError, _ remains: Remains) {
        // Tells the other side at once: sources that are still in their loops, and threads that poll
        // the socket, keep it open. The port itself watches it until `didEnd` has returned.
        remains.socket.descriptor.shutDown()
        remains.sources.forEach { $0.connectionDidEnd() }
        remains.requestSources.forEach { $0.connectionDidEnd() }
        remains.tasks.forEach { $0.settle(.failure(reason)) }
        didEnd()
        withExtendedLifetime(remains) {}
    }
}
