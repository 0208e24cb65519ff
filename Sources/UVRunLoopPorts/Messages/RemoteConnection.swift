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
        var outcome = Outcome.open
        /// What tells the sender's loop.
        let bell: ReplyBell

        /// Fails what is still open: a reply that came is a reply.
        mutating func fail(_ error: MessagePortError) {
            if case .open = outcome { outcome = .failed(error) }
        }
    }

    private struct State: Sendable {
        var parser: FrameParser
        var outbox = Outbox()
        var waits: [UInt64: Wait] = [:]
        var lastNumber: UInt64 = 0
        /// One for each loop that has waited for a reply.
        var bells: [ReplyBell] = []
        /// Why nothing more is sent; `nil` while the connection is good.
        var end: MessagePortError?
    }

    let socket: SharedSocket
    private let state: Locked<State>
    private let didEnd: @Sendable () -> Void
    /// A forked child inherits a copy of the object; the connection stays its parent's.
    private let owner = Process.id

    /// The last argument is called once, with no lock held, when the connection is over.
    init(_ socket: SharedSocket, maximumReply: Int, didEnd: @escaping @Sendable () -> Void) {
        self.socket = socket
        let parser = FrameParser(side: .remote, maximumPayload: maximumReply)
        state = Locked(State(parser: parser))
        self.didEnd = didEnd
    }

    var isOpen: Bool { state.withLock { $0.end == nil } }

    // MARK: Sending

    /// Queues a message and sends what goes out at once.
    ///
    /// - Returns: What names it in the box.
    func begin(_ frame: Frame) throws(MessagePortError) -> Outbox.Ticket {
        let (ticket, isSound) = try state.withLock {
            state throws(MessagePortError) -> (Outbox.Ticket, Bool) in
            guard state.end == nil else { throw .isInvalid }
            let ticket = state.outbox.append(frame)
            return (ticket, flush(&state))
        }
        if !isSound {
            // It may have said why before it went.
            takeInAll()
            throw end(.becameInvalid) ?? .becameInvalid
        }
        return ticket
    }

    /// Makes a request's frame, and a place for its reply.
    func beginRequest(
        _ frame: Frame,
        bell: ReplyBell
    ) throws(MessagePortError) -> (ticket: Outbox.Ticket, number: UInt64) {
        var frame = frame
        let number = try state.withLock { state throws(MessagePortError) -> UInt64 in
            guard state.end == nil else { throw .isInvalid }
            state.lastNumber += 1
            state.waits[state.lastNumber] = Wait(bell: bell)
            return state.lastNumber
        }
        frame.kind = .request
        frame.number = number
        do throws(MessagePortError) {
            return (try begin(frame), number)
        } catch {
            forget(number)
            throw error
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

    func hasSent(_ ticket: Outbox.Ticket) -> Bool { state.withLock { !$0.outbox.holds(ticket) } }

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
            let outcome = state.waits[number]?.outcome ?? .failed(.becameInvalid)
            if case .open = outcome { return .open }
            state.waits[number] = nil
            return outcome
        }
        switch outcome {
        case .open: return (nil, false)
        case .reply(let data): return (data, true)
        case .failed(let error): throw error
        }
    }

    /// Drops a request: a reply that comes late finds nobody.
    func forget(_ number: UInt64) { state.withLock { $0.waits[number] = nil } }

    /// Whether an outcome is there that the sender behind a bell has not taken.
    func hasOutcome(for bell: ReplyBell) -> Bool {
        state.withLock { state in
            state.waits.values.contains { wait in
                guard wait.bell === bell else { return false }
                if case .open = wait.outcome { return false }
                return true
            }
        }
    }

    /// Reads once and hands out what came.
    ///
    /// - Parameter own: The bell of the loop that calls, which needs no ringing.
    /// - Returns: Whether there may be more.
    @discardableResult
    func takeIn(for own: ReplyBell? = nil) -> Bool {
        var bells: [ReplyBell] = []
        var reason: MessagePortError?
        let hasMore = state.withLock { state -> Bool in
            guard state.end == nil else { return false }
            do throws(UVError) {
                switch try socket.descriptor.read() {
                case .wouldBlock: return false
                case .end: reason = .becameInvalid
                case .bytes(let bytes): reason = handOut(bytes[...], &state, &bells)
                }
            } catch {
                reason = error == .connectionReset ? .becameInvalid : MessagePortError(error)
            }
            return reason == nil
        }
        for bell in bells where bell !== own { bell.ring() }
        if let reason { end(reason) }
        return hasMore
    }

    private func takeInAll() {
        while takeIn() {}
    }

    /// - Returns: Why the connection is over, if it is.
    private func handOut(
        _ bytes: ArraySlice<UInt8>,
        _ state: inout State,
        _ bells: inout [ReplyBell]
    ) -> MessagePortError? {
        var input = bytes
        do throws(FrameError) {
            while let frame = try state.parser.next(from: &input) {
                let outcome: Outcome
                if frame.kind == .reply {
                    outcome = .reply(frame.data)
                } else {
                    let error = MessagePortError(RefusalReason(rawValue: frame.id))
                    if frame.number == 0 { return error }
                    outcome = .failed(error)
                }
                guard let wait = state.waits[frame.number] else { continue }
                state.waits[frame.number]?.outcome = outcome
                bells.append(wait.bell)
            }
            return nil
        } catch {
            if case .payloadTooLarge = error { return .messageTooLarge }
            return .malformedFrame
        }
    }

    // MARK: Bells

    /// What tells a loop of its replies, made when it waits for the first.
    func bell(for loop: UVRunLoop) -> ReplyBell {
        if let bell = state.withLock({ $0.bells.first { $0.loop === loop } }) { return bell }
        // Only the loop's own thread asks for its bell, so nobody makes another meanwhile.
        let bell = ReplyBell(self, loop)
        let isOpen = state.withLock { state in
            if state.end == nil { state.bells.append(bell) }
            return state.end == nil
        }
        if isOpen { bell.park() }
        return bell
    }

    func forget(_ bell: ReplyBell) {
        state.withLock { state in state.bells.removeAll { $0 === bell } }
    }

    // MARK: The end

    /// Ends the connection, for all that wait and for good.
    ///
    /// - Returns: The reason, if one had been given before.
    @discardableResult
    func end(_ reason: MessagePortError) -> MessagePortError? {
        let (bells, earlier) = state.withLock { state -> ([ReplyBell], MessagePortError?) in
            if let end = state.end { return ([], end) }
            state.end = reason
            for number in state.waits.keys { state.waits[number]?.fail(reason) }
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
