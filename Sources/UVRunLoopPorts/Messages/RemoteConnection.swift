import UVRunLoop

/// What stands behind a remote port: the one connection, used by all threads that send.
///
/// Whoever comes by moves things on: a thread that sends also writes what others have queued, and
/// one that waits for a reply also takes in the replies to others and tells them.
final class RemoteConnection: Sendable {
    /// What became of a request.
    private enum Outcome: Sendable {
        case open
        case reply([UInt8]?)
        case failed(MessagePortError)
    }

    /// A request whose sender has not come back for the outcome.
    private struct PendingRequest: Sendable {
        let number: UInt64
        var outcome = Outcome.open
        /// What tells the sender's loop.
        let source: ReplySource

        var isOpen: Bool { if case .open = outcome { true } else { false } }

        /// Fails what is still open: a reply that came is a reply.
        mutating func fail(_ error: MessagePortError) {
            if isOpen { outcome = .failed(error) }
        }
    }

    private struct State: Sendable {
        var parser: FrameParser
        var sendQueue = FrameQueue()
        /// In the order of the numbers: there are as many as senders that wait at the same time.
        var requests: [PendingRequest] = []
        var lastNumber: UInt64 = 0
        /// One for each loop that has waited for a reply.
        var replySources: [ReplySource] = []
        /// Why nothing more is sent; `nil` while the connection is good.
        var end: MessagePortError?

        func index(of number: UInt64) -> Int? { requests.firstIndex { $0.number == number } }

        /// Whether an outcome is there that the sender behind a bell has not taken.
        func hasOutcome(for source: ReplySource) -> Bool {
            requests.contains { $0.source === source && !$0.isOpen }
        }
    }

    let socket: SharedSocket
    private let state: Guarded<State>
    private let didEnd: @Sendable () -> Void
    /// A forked child inherits a copy of the object; the connection stays its parent's.
    private let owner = Process.id

    /// The last argument is called once, with no lock held, when the connection is over.
    init(_ socket: SharedSocket, maximumReply: Int, didEnd: @escaping @Sendable () -> Void) {
        self.socket = socket
        let parser = FrameParser(side: .remote, maximumPayload: maximumReply)
        state = Guarded(State(parser: parser))
        self.didEnd = didEnd
    }

    var isOpen: Bool { state.withLock { $0.end == nil } }

    // MARK: Sending

    /// What became of a frame that was to be sent.
    private enum Posting: Sendable {
        case done
        /// A part of it waits in the box.
        case queued(FrameQueue.ID)
        /// The other side takes nothing any more.
        case failed
    }

    /// Sends a message, or as much as there is room for.
    ///
    /// - Returns: What names it in the box; `nil` when all of it went out.
    func beginSending(_ frame: Frame) throws(MessagePortError) -> FrameQueue.ID? {
        let posting = try state.withLock { state throws(MessagePortError) -> Posting in
            guard state.end == nil else { throw .isInvalid }
            return post(frame, &state)
        }
        return try id(of: posting)
    }

    /// Sends a request as a message is sent, and makes a place for its reply.
    func beginRequest(
        _ frame: consuming Frame,
        source: ReplySource
    ) throws(MessagePortError) -> (queued: FrameQueue.ID?, number: UInt64) {
        var frame = frame
        frame.kind = .request
        let (posting, number) = try state.withLock {
            [frame] state throws(MessagePortError) -> (Posting, UInt64) in
            guard state.end == nil else { throw .isInvalid }
            state.lastNumber += 1
            state.requests.append(PendingRequest(number: state.lastNumber, source: source))
            var frame = frame
            frame.number = state.lastNumber
            return (post(frame, &state), state.lastNumber)
        }
        do throws(MessagePortError) {
            return (try id(of: posting), number)
        } catch {
            removeRequest(number)
            throw error
        }
    }

    private func post(_ frame: Frame, _ state: inout State) -> Posting {
        do throws(UVError) {
            let queued = try state.sendQueue.send(frame, to: socket.descriptor)
            return queued.map(Posting.queued) ?? .done
        } catch {
            return .failed
        }
    }

    private func id(of posting: Posting) throws(MessagePortError) -> FrameQueue.ID? {
        switch posting {
        case .done: return nil
        case .queued(let id): return id
        case .failed:
            // It may have said why before it went.
            receiveAll()
            throw end(.becameInvalid) ?? .becameInvalid
        }
    }

    /// Sends what waits, as far as there is room.
    ///
    /// - Returns: Whether a message has gone out whole.
    func trySending(_ id: FrameQueue.ID) throws(MessagePortError) -> Bool {
        // Not all: a peer may talk faster than this side listens.
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

    /// Takes a message back whose time is over.
    ///
    /// Of one that has gone out in part the other side waits for the rest: nothing else could be
    /// sent, so the connection ends.
    func withdraw(_ id: FrameQueue.ID) {
        let isCut = state.withLock { state in
            state.sendQueue.contains(id) && !state.sendQueue.withdraw(id)
        }
        if isCut { end(.becameInvalid) }
    }

    /// - Returns: Whether the other side still takes anything.
    private func flush(_ state: inout State) -> Bool {
        do throws(UVError) {
            _ = try state.sendQueue.flush(to: socket.descriptor)
            return true
        } catch {
            return false
        }
    }

    // MARK: Replies

    /// The outcome of a request, handed over once; `nil` while there is none.
    func takeOutcome(
        of number: UInt64
    ) throws(MessagePortError) -> (data: [UInt8]?, isThere: Bool) {
        let outcome = state.withLock { state -> Outcome in
            guard let index = state.index(of: number) else { return .failed(.becameInvalid) }
            if state.requests[index].isOpen { return .open }
            // The innermost of the waits that are nested is the first to end.
            let isLast = index == state.requests.count - 1
            return (isLast ? state.requests.removeLast() : state.requests.remove(at: index)).outcome
        }
        switch outcome {
        case .open: return (nil, false)
        case .reply(let data): return (data, true)
        case .failed(let error): throw error
        }
    }

    /// Drops a request: a reply that comes late finds nobody.
    func removeRequest(_ number: UInt64) {
        state.withLock { state in state.requests.removeAll { $0.number == number } }
    }

    /// Whether an outcome is there that the sender behind a bell has not taken.
    func hasOutcome(for source: ReplySource) -> Bool {
        state.withLock { $0.hasOutcome(for: source) }
    }

    /// What a read brought to others than the one who read.
    private struct ReadOutcome: Sendable {
        /// Whether there may be more to read.
        var mayHaveMore = false
        var replySources: [ReplySource] = []
        /// Why the connection is over, if it is.
        var reason: MessagePortError?
    }

    /// Reads once and hands out what came.
    ///
    /// - Returns: Whether there may be more.
    @discardableResult
    func receive() -> Bool {
        deliver(state.withLock { read(&$0, for: nil) })
    }

    /// The same for a loop that was told of news, and needs no telling again.
    ///
    /// - Returns: Whether an outcome is there for one who waits in that loop.
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
                dispatch(bytes, &state, &outcome.replySources, except: own)
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
        if let reason = outcome.reason { end(reason) }
        return outcome.mayHaveMore
    }

    private func receiveAll() {
        while receive() {}
    }

    /// - Returns: Why the connection is over, if it is.
    private func dispatch(
        _ bytes: RawSpan,
        _ state: inout State,
        _ replySources: inout [ReplySource],
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
                state.requests[index].outcome = outcome
                let source = state.requests[index].source
                if source !== own { replySources.append(source) }
            }
            return nil
        } catch {
            if case .payloadTooLarge = error { return .messageTooLarge }
            return .malformedFrame
        }
    }

    // MARK: Bells

    /// What tells a loop of its replies, made when it waits for the first.
    func replySource(for loop: UVRunLoop) -> ReplySource {
        let existing = state.withLock { $0.replySources.first { $0.loop === loop } }
        if let existing { return existing }
        // Only the loop's own thread asks for its bell, so nobody makes another meanwhile.
        let source = ReplySource(self, loop)
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

    // MARK: The end

    /// Ends the connection, for all that wait and for good.
    ///
    /// - Returns: The reason, if one had been given before.
    @discardableResult
    func end(_ reason: MessagePortError) -> MessagePortError? {
        let (sources, earlier) = state.withLock { state -> ([ReplySource], MessagePortError?) in
            if let end = state.end { return ([], end) }
            state.end = reason
            for index in state.requests.indices { state.requests[index].fail(reason) }
            state.sendQueue.removeAll()
            return (exchange(&state.replySources, with: []), nil)
        }
        guard earlier == nil else { return earlier }
        guard owner == Process.id else { return nil }
        // The other side is told at once, however long somebody holds this.
        socket.descriptor.shutDown()
        sources.forEach { $0.connectionDidEnd() }
        didEnd()
        return nil
    }
}
