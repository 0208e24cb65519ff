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
    private struct Wait: Sendable {
        let number: UInt64
        var outcome = Outcome.open
        /// What tells the sender's loop.
        let bell: ReplySource

        var isOpen: Bool { if case .open = outcome { true } else { false } }

        /// Fails what is still open: a reply that came is a reply.
        mutating func fail(_ error: MessagePortError) {
            if isOpen { outcome = .failed(error) }
        }
    }

    private struct State: Sendable {
        var parser: FrameParser
        var outbox = Outbox()
        /// In the order of the numbers: there are as many as senders that wait at the same time.
        var waits: [Wait] = []
        var lastNumber: UInt64 = 0
        /// One for each loop that has waited for a reply.
        var bells: [ReplySource] = []
        /// Why nothing more is sent; `nil` while the connection is good.
        var end: MessagePortError?

        func index(of number: UInt64) -> Int? { waits.firstIndex { $0.number == number } }

        /// Whether an outcome is there that the sender behind a bell has not taken.
        func hasOutcome(for bell: ReplySource) -> Bool {
            waits.contains { $0.bell === bell && !$0.isOpen }
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
        case waits(Outbox.Ticket)
        /// The other side takes nothing any more.
        case failed
    }

    /// Sends a message, or as much as there is room for.
    ///
    /// - Returns: What names it in the box; `nil` when all of it went out.
    func begin(_ frame: Frame) throws(MessagePortError) -> Outbox.Ticket? {
        let posting = try state.withLock { state throws(MessagePortError) -> Posting in
            guard state.end == nil else { throw .isInvalid }
            return post(frame, &state)
        }
        return try ticket(of: posting)
    }

    /// Sends a request as a message is sent, and makes a place for its reply.
    func beginRequest(
        _ frame: consuming Frame,
        bell: ReplySource
    ) throws(MessagePortError) -> (ticket: Outbox.Ticket?, number: UInt64) {
        var frame = frame
        frame.kind = .request
        let (posting, number) = try state.withLock {
            [frame] state throws(MessagePortError) -> (Posting, UInt64) in
            guard state.end == nil else { throw .isInvalid }
            state.lastNumber += 1
            state.waits.append(Wait(number: state.lastNumber, bell: bell))
            var frame = frame
            frame.number = state.lastNumber
            return (post(frame, &state), state.lastNumber)
        }
        do throws(MessagePortError) {
            return (try ticket(of: posting), number)
        } catch {
            forget(number)
            throw error
        }
    }

    private func post(_ frame: Frame, _ state: inout State) -> Posting {
        do throws(UVError) {
            return try state.outbox.post(frame, to: socket.descriptor).map(Posting.waits) ?? .done
        } catch {
            return .failed
        }
    }

    private func ticket(of posting: Posting) throws(MessagePortError) -> Outbox.Ticket? {
        switch posting {
        case .done: return nil
        case .waits(let ticket): return ticket
        case .failed:
            // It may have said why before it went.
            takeInAll()
            throw end(.becameInvalid) ?? .becameInvalid
        }
    }

    /// Sends what waits, as far as there is room.
    ///
    /// - Returns: Whether a message has gone out whole.
    func move(_ ticket: Outbox.Ticket) throws(MessagePortError) -> Bool {
        // Not all: a peer may talk faster than this side listens.
        takeIn()
        let (isGone, isSound, reason) = state.withLock {
            state -> (Bool, Bool, MessagePortError?) in
            if let reason = state.end { return (false, false, reason) }
            let isSound = flush(&state)
            return (!state.outbox.holds(ticket), isSound, nil)
        }
        if let reason { throw reason }
        if !isSound { throw end(.becameInvalid) ?? .becameInvalid }
        return isGone
    }

    /// Takes a message back whose time is over.
    ///
    /// Of one that has gone out in part the other side waits for the rest: nothing else could be
    /// sent, so the connection ends.
    func withdraw(_ ticket: Outbox.Ticket) {
        let isCut = state.withLock { state in
            state.outbox.holds(ticket) && !state.outbox.withdraw(ticket)
        }
        if isCut { end(.becameInvalid) }
    }

    /// - Returns: Whether the other side still takes anything.
    private func flush(_ state: inout State) -> Bool {
        do throws(UVError) {
            _ = try state.outbox.flush(to: socket.descriptor)
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
            if state.waits[index].isOpen { return .open }
            // The innermost of the waits that are nested is the first to end.
            let isLast = index == state.waits.count - 1
            return (isLast ? state.waits.removeLast() : state.waits.remove(at: index)).outcome
        }
        switch outcome {
        case .open: return (nil, false)
        case .reply(let data): return (data, true)
        case .failed(let error): throw error
        }
    }

    /// Drops a request: a reply that comes late finds nobody.
    func forget(_ number: UInt64) {
        state.withLock { state in state.waits.removeAll { $0.number == number } }
    }

    /// Whether an outcome is there that the sender behind a bell has not taken.
    func hasOutcome(for bell: ReplySource) -> Bool {
        state.withLock { $0.hasOutcome(for: bell) }
    }

    /// What a read brought to others than the one who read.
    private struct News: Sendable {
        /// Whether there may be more to read.
        var mayHaveMore = false
        var bells: [ReplySource] = []
        /// Why the connection is over, if it is.
        var reason: MessagePortError?
    }

    /// Reads once and hands out what came.
    ///
    /// - Returns: Whether there may be more.
    @discardableResult
    func takeIn() -> Bool {
        tell(state.withLock { read(&$0, for: nil) })
    }

    /// The same for a loop that was told of news, and needs no telling again.
    ///
    /// - Returns: Whether an outcome is there for one who waits in that loop.
    func takeIn(for own: ReplySource) -> Bool {
        let (news, hasOutcome) = state.withLock { state in
            let news = read(&state, for: own)
            return (news, state.hasOutcome(for: own))
        }
        _ = tell(news)
        return hasOutcome || (news.reason != nil && self.hasOutcome(for: own))
    }

    private func read(_ state: inout State, for own: ReplySource?) -> News {
        var news = News()
        guard state.end == nil else { return news }
        do throws(UVError) {
            let input = try socket.descriptor.read { bytes in
                handOut(bytes, &state, &news.bells, except: own)
            }
            switch input {
            case .wouldBlock: return news
            case .end: news.reason = .becameInvalid
            case .bytes(let reason): news.reason = reason
            }
        } catch {
            news.reason = error == .connectionReset ? .becameInvalid : MessagePortError(error)
        }
        news.mayHaveMore = news.reason == nil
        return news
    }

    /// - Returns: Whether there may be more.
    private func tell(_ news: News) -> Bool {
        for bell in news.bells { bell.ring() }
        if let reason = news.reason { end(reason) }
        return news.mayHaveMore
    }

    private func takeInAll() {
        while takeIn() {}
    }

    /// - Returns: Why the connection is over, if it is.
    private func handOut(
        _ bytes: RawSpan,
        _ state: inout State,
        _ bells: inout [ReplySource],
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
                state.waits[index].outcome = outcome
                let bell = state.waits[index].bell
                if bell !== own { bells.append(bell) }
            }
            return nil
        } catch {
            if case .payloadTooLarge = error { return .messageTooLarge }
            return .malformedFrame
        }
    }

    // MARK: Bells

    /// What tells a loop of its replies, made when it waits for the first.
    func bell(for loop: UVRunLoop) -> ReplySource {
        if let bell = state.withLock({ $0.bells.first { $0.loop === loop } }) { return bell }
        // Only the loop's own thread asks for its bell, so nobody makes another meanwhile.
        let bell = ReplySource(self, loop)
        let isOpen = state.withLock { state in
            if state.end == nil { state.bells.append(bell) }
            return state.end == nil
        }
        if isOpen { bell.park() }
        return bell
    }

    func forget(_ bell: ReplySource) {
        state.withLock { state in state.bells.removeAll { $0 === bell } }
    }

    // MARK: The end

    /// Ends the connection, for all that wait and for good.
    ///
    /// - Returns: The reason, if one had been given before.
    @discardableResult
    func end(_ reason: MessagePortError) -> MessagePortError? {
        let (bells, earlier) = state.withLock { state -> ([ReplySource], MessagePortError?) in
            if let end = state.end { return ([], end) }
            state.end = reason
            for index in state.waits.indices { state.waits[index].fail(reason) }
            state.outbox.removeAll()
            return (exchange(&state.bells, with: []), nil)
        }
        guard earlier == nil else { return earlier }
        guard owner == Process.id else { return nil }
        // The other side is told at once, however long somebody holds this.
        socket.descriptor.shutDown()
        bells.forEach { $0.connectionDidEnd() }
        didEnd()
        return nil
    }
}
