import UVRunLoop

/// The connection of a remote port, shared by all threads that send.
///
/// There is no dedicated thread: a thread that sends also sends what others have queued, and one
/// that waits for a reply also receives replies for others and notifies their loops.
final class RemoteConnection: Sendable {
    /// The result of a request.
    private enum Outcome: Sendable {
        case open
        case reply([UInt8]?)
        case failed(MessagePortError)

        /// The outcome for a task; `nil` while there is none.
        var result: Result<[UInt8]?, any Error>? {
            switch self {
            case .open: nil
            case .reply(let data): .success(data)
            case .failed(let error): .failure(error)
            }
        }
    }

    /// Who waits for a reply.
    enum Sender: Sendable {
        /// A thread, whose loop is notified and which takes the outcome.
        case thread(ReplySource)
        /// A task, which gets the outcome.
        case task(TaskWait<[UInt8]?>)
    }

    /// A request whose sender has not got the outcome.
    private struct PendingRequest: Sendable {
        let number: UInt64
        var outcome = Outcome.open
        let sender: Sender

        var task: TaskWait<[UInt8]?>? {
            if case .task(let wait) = sender { wait } else { nil }
        }

        var isOpen: Bool { if case .open = outcome { true } else { false } }

        /// Fails the request, unless its reply has arrived.
        mutating func fail(_ error: MessagePortError) {
            if isOpen { outcome = .failed(error) }
        }
    }

    private struct State: Sendable {
        var parser: FrameParser
        var sendQueue = FrameQueue()
        /// Sorted by number.
        ///
        /// There are as many as senders that wait at the same time.
        var requests: [PendingRequest] = []
        var lastNumber: UInt64 = 0
        /// One for each loop that has waited for a reply.
        var replySources: [ReplySource] = []
        /// The reason why the connection has ended; `nil` while it is open.
        var end: MessagePortError?

        func index(of number: UInt64) -> Int? { requests.firstIndex { $0.number == number } }

        /// Whether there is an outcome that a sender in the source's loop has not taken.
        func hasOutcome(for source: ReplySource) -> Bool {
            requests.contains { request in
                guard case .thread(let other) = request.sender, other === source else {
                    return false
                }
                return !request.isOpen
            }
        }

        /// Removes the requests of tasks.
        mutating func takeTasks() -> [TaskWait<[UInt8]?>] {
            let tasks = requests.compactMap { $0.task }
            if !tasks.isEmpty { requests.removeAll { $0.task != nil } }
            return tasks
        }
    }

    let socket: SharedSocket
    private let state: Guarded<State>
    private let didEnd: @Sendable () -> Void
    private let owner = OwnerProcess()

    /// `didEnd` is called once, without a lock, when the connection has ended.
    init(_ socket: SharedSocket, maximumReply: Int, didEnd: @escaping @Sendable () -> Void) {
        self.socket = socket
        let parser = FrameParser(side: .remote, maximumPayload: maximumReply)
        state = Guarded(State(parser: parser))
        self.didEnd = didEnd
    }

    var isOpen: Bool { isOfThisProcess && state.withLock { $0.end == nil } }

    /// A forked child inherits the object; the connection stays its parent's.
    var isOfThisProcess: Bool { owner.isCurrent }

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
            guard state.end == nil else { throw .isInvalid }
            return send(frame, &state)
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
            guard state.end == nil else { throw .isInvalid }
            state.lastNumber += 1
            state.requests.append(PendingRequest(number: state.lastNumber, sender: sender))
            var frame = frame
            frame.number = state.lastNumber
            return (send(frame, &state), state.lastNumber)
        }
        do throws(MessagePortError) {
            return (try id(of: result), number)
        } catch {
            removeRequest(number)
            throw error
        }
    }

    private func send(_ frame: Frame, _ state: inout State) -> SendResult {
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
        case .failed:
            // The other side may have sent a reason before it closed.
            receiveAll()
            throw end(.becameInvalid) ?? .becameInvalid
        }
    }

    /// Sends queued frames, as much as the socket accepts.
    ///
    /// - Returns: Whether a frame was sent completely.
    func trySending(_ id: FrameQueue.ID) throws(MessagePortError) -> Bool {
        // Only one read: a peer may send faster than this side reads.
        receive()
        let (isGone, isSound, reason) = state.withLock {
            state -> (Bool, Bool, MessagePortError?) in
            if let reason = state.end { return (false, false, reason) }
            let isSound = flush(&state)
            return (!state.sendQueue.contains(id), isSound, nil)
        }
        if let reason { throw reason }
        if !isSound { throw end(.becameInvalid) ?? .becameInvalid }
        return isGone
    }

    /// Withdraws a message whose limit has passed.
    ///
    /// If a part of it was sent, the other side waits for the rest and nothing else can be sent, so
    /// the connection ends.
    func withdraw(_ id: FrameQueue.ID) {
        if !withdrawIfUnsent(id) { end(.becameInvalid) }
    }

    /// Withdraws a message unless a part of it was sent.
    ///
    /// - Returns: Whether nothing of it is queued any longer.
    func withdrawIfUnsent(_ id: FrameQueue.ID) -> Bool {
        state.withLock { state in
            !state.sendQueue.contains(id) || state.sendQueue.withdraw(id)
        }
    }

    /// - Returns: Whether the other side still receives.
    private func flush(_ state: inout State) -> Bool {
        do throws(UVError) {
            _ = try state.sendQueue.flush(to: socket.descriptor)
            return true
        } catch {
            return false
        }
    }

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

    /// Removes a request: a late reply is dropped.
    func removeRequest(_ number: UInt64) {
        state.withLock { state in state.requests.removeAll { $0.number == number } }
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
        guard state.end == nil else { return outcome }
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

    private func receiveAll() {
        while receive() {}
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
                guard let index = state.index(of: frame.number) else { continue }
                switch state.requests[index].sender {
                case .thread(let source):
                    state.requests[index].outcome = outcome
                    if source !== own { read.replySources.append(source) }
                case .task(let task):
                    state.requests.remove(at: index)
                    if let outcome = outcome.result { read.settled.append((task, outcome)) }
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
        typealias Senders = (sources: [ReplySource], tasks: [TaskWait<[UInt8]?>])
        let (senders, earlier) = state.withLock { state -> (Senders, MessagePortError?) in
            if let end = state.end { return (([], []), end) }
            state.end = reason
            let tasks = state.takeTasks()
            for index in state.requests.indices { state.requests[index].fail(reason) }
            state.sendQueue.removeAll()
            return ((exchange(&state.replySources, with: []), tasks), nil)
        }
        guard earlier == nil else { return earlier }
        // Tells the other side at once, even if the descriptor is kept open for longer.
        socket.descriptor.shutDown()
        senders.sources.forEach { $0.connectionDidEnd() }
        senders.tasks.forEach { $0.settle(.failure(reason)) }
        didEnd()
        return nil
    }
}
