import UVRunLoop

/// A connection's socket and what is known of it.
///
/// Its calls never wait, so they are made under the port's lock: a descriptor that another thread
/// closes meanwhile would be somebody else's.
struct StreamState: ~Copyable, Sendable {
    typealias Events = StreamCourse.Events
    typealias Event = UVRunLoop.SocketPort.Event
    typealias SocketError = UVRunLoop.SocketError

    /// What became of serving the connection once.
    struct Outcome: Sendable {
        var event: Event?
        /// The connection has ended, and this is told after the event.
        var isOver = false
        var hasMore = false
        var asksAnew = false
        /// When to look again, though the kernel may have nothing to tell.
        var nextLook: UVRunLoop.Instant?
        var hasAlarm = false
        var handler: Handler<UVRunLoop.SocketPort.Body>?
    }

    /// What has to follow a change that was made from outside.
    struct Consequence: Sendable {
        var asksAnew = false
        var isReady = false
        var isOver = false
        var wasAccepted = true
    }

    var owned: SocketBelongings
    /// Goes after the descriptor, for it makes room for another one.
    var membership: Membership?
    var course: StreamCourse
    var queue = OutputQueue()
    /// What the kernel was asked for last.
    private var asked: Events
    /// Where to and until when, while the connection is being made.
    private var attempt: ConnectionAttempt? {
        get { keptAttempt?.value }
        set { keptAttempt = newValue.map(Kept.init) }
    }
    private var keptAttempt: Kept<ConnectionAttempt>?

    init(connected descriptor: consuming Descriptor, _ membership: consuming Membership?) {
        owned = SocketBelongings(descriptor)
        self.membership = membership
        course = StreamCourse(.open)
        asked = .readable
    }

    init(connecting descriptor: consuming Descriptor, _ attempt: ConnectionAttempt) {
        owned = SocketBelongings(descriptor)
        keptAttempt = Kept(attempt)
        course = StreamCourse(.inLine)
        asked = []
        membership = nil
        connect()
        asked = wanted
    }

    var wanted: Events { course.wanted(queue) }

    var isReady: Bool { course.isReady(queue) }

    var isFinishing: Bool { owned.descriptor != nil && course.isFinishing }

    /// Whether the kernel has to be asked for something else; not about a peer that is gone.
    private mutating func asksAnew() -> Bool {
        guard !course.isHungUp, asked != wanted else { return false }
        asked = wanted
        return true
    }

    // MARK: Connecting

    /// Asks the listener, for the first time or again.
    private mutating func connect() {
        guard let attempt else { return }
        do {
            switch try owned.descriptor?.connect(to: attempt.address) {
            case .done: course.phase = .connected
            case .underway: course.phase = .connecting
            case .lineIsFull, nil: course.phase = .inLine
            }
        } catch {
            fail(SocketError(system: error))
        }
    }

    /// Finds out what became of the connection.
    private mutating func lookAtAttempt(_ events: Events, _ now: UVRunLoop.Instant) {
        switch course.phase {
        case .inLine:
            connect()
            if course.phase == .inLine { attempt?.didTry(at: now) }
        case .connecting where !events.isEmpty: takeOutcome()
        case .connecting, .connected, .open: break
        }
        if course.phase == .connected { attempt = nil }
        if attempt?.isLate(at: now) == true { fail(SocketError(.timedOut)) }
    }

    /// Takes from the kernel how connecting went.
    private mutating func takeOutcome() {
        do {
            let error = try owned.descriptor?.takeError()
            switch error {
            case nil: course.phase = .connected
            case .connectionReset, .brokenPipe:
                // The connection was there, and may have brought something before it broke.
                course.phase = .connected
            default: break
            }
            if let error { fail(SocketError(system: error)) }
        } catch {
            fail(SocketError(system: error))
        }
    }

    // MARK: Serving

    /// Goes one step on.
    mutating func serve(_ events: Events, at now: UVRunLoop.Instant) -> Outcome {
        guard owned.descriptor != nil else { return Outcome() }
        var outcome = Outcome()
        // A socket that is in nobody's line counts as hung up.
        if events.contains(.hangUp), course.phase != .inLine { course.isHungUp = true }
        if keptAttempt != nil { lookAtAttempt(events, now) }
        outcome.event = nextEvent(events)
        if case .failed = outcome.event {
            outcome.isOver = true
        } else {
            outcome.isOver = course.isOver
        }
        outcome.hasMore = !outcome.isOver && keptAttempt == nil && course.isReady(queue)
        outcome.asksAnew = asksAnew()
        outcome.nextLook = attempt?.nextLook(isInLine: course.phase == .inLine)
        outcome.hasAlarm = owned.alarm != nil
        outcome.handler = owned.handler
        return outcome
    }

    private mutating func nextEvent(_ events: Events) -> Event? {
        switch course.phase {
        case .inLine, .connecting: return course.failure.map { .failed($0) }
        case .connected:
            course.phase = .open
            // With nothing queued the kernel has nothing to tell that would lead to this later.
            shutDownIfDue()
            return .connected
        case .open: return step(events)
        }
    }

    private mutating func step(_ events: Events) -> Event? {
        if !queue.isEmpty, events.contains(.writable) || course.isHungUp, flush() {
            return .drained
        }
        shutDownIfDue()
        if course.reads, events.contains(.readable) || course.readsToTheEnd {
            if let event = read() { return event }
        }
        guard !course.readsToTheEnd else { return nil }
        return course.failure.map { .failed($0) } ?? lastError()
    }

    private mutating func read() -> Event? {
        do {
            switch try owned.descriptor?.read() {
            case .bytes(let bytes): return .received(bytes)
            case .wouldBlock, nil:
                if course.readsToTheEnd { course.peerDidEnd = true }
                return nil
            case .end:
                course.peerDidEnd = true
                return course.isEndGenuine ? .ended : nil
            }
        } catch {
            return .failed(course.failure ?? SocketError(system: error))
        }
    }

    /// The error of a peer that is gone while nothing is read from it.
    private mutating func lastError() -> Event? {
        guard course.isHungUp, course.peerDidEnd else { return nil }
        let error = (try? owned.descriptor?.takeError()) ?? nil
        return error.map { .failed(SocketError(system: $0)) }
    }

    // MARK: Sending

    /// Sends what the socket takes of the queue; answers whether that made room for more.
    private mutating func flush() -> Bool {
        guard course.sends else { return false }
        do {
            let sent: Int?
            if let only = queue.only {
                sent = try owned.descriptor?.send(only)
            } else {
                sent = try owned.descriptor?.send(queue.first(Descriptor.mostPieces))
            }
            guard let sent else { return false }
            let hasRoom = queue.didSend(sent)
            shutDownIfDue()
            return hasRoom
        } catch {
            fail(reason(of: error))
            return false
        }
    }

    /// Sends at once what the socket takes, and queues the rest.
    mutating func send(_ bytes: ArraySlice<UInt8>) -> Consequence {
        guard owned.descriptor != nil, course.accepts else {
            return Consequence(wasAccepted: false)
        }
        var sent = 0
        do {
            if queue.isEmpty, course.sends, !bytes.isEmpty {
                sent = try owned.descriptor?.send(bytes) ?? 0
            }
        } catch {
            fail(reason(of: error))
            return consequence(wasAccepted: false)
        }
        guard sent < bytes.count else { return Consequence() }
        if queue.overflows(with: bytes.count - sent) {
            owned.descriptor?.resetWhenClosed()
            fail(SocketError(.queueOverflow))
            // The peer lives and may send on: this is not to wait for its end.
            course.peerDidEnd = true
            return consequence(wasAccepted: false)
        }
        queue.append(bytes.dropFirst(sent))
        return consequence()
    }

    mutating func endSending(closing: Bool) -> Consequence {
        guard owned.descriptor != nil else { return Consequence(wasAccepted: false) }
        course.noteEnd(closing: closing)
        shutDownIfDue()
        return consequence()
    }

    mutating func setPaused(_ isPaused: Bool) -> Consequence {
        guard owned.descriptor != nil else { return Consequence(wasAccepted: false) }
        course.isPaused = isPaused
        return consequence()
    }

    private mutating func consequence(wasAccepted: Bool = true) -> Consequence {
        Consequence(
            asksAnew: asksAnew(),
            isReady: keptAttempt == nil && course.isReady(queue),
            isOver: course.isOver,
            wasAccepted: wasAccepted
        )
    }

    private mutating func shutDownIfDue() {
        guard course.isToShutDown(queue) else { return }
        do throws(UVError) {
            // Unlike a TCP socket, a Unix socket whose peer is gone can be shut down.
            if course.closesWhenDrained, let error = try owned.descriptor?.takeError() {
                throw error
            }
            try owned.descriptor?.endSending()
            course.didShutDown()
        } catch {
            fail(reason(of: error))
        }
    }

    // MARK: Failing

    /// The connection cannot go on; what the peer sent already is still read.
    private mutating func fail(_ error: SocketError) {
        course.failure = course.failure ?? error
        attempt = nil
        queue.removeAll()
    }

    /// Why a call that sends was refused.
    ///
    /// `EPIPE` and `ENOTCONN` say only that sending is over. Why, the socket's own error says.
    private func reason(of error: UVError) -> SocketError {
        guard error == .brokenPipe || error == .notConnected else {
            return SocketError(system: error)
        }
        if let cause = (try? owned.descriptor?.takeError()) ?? nil {
            return SocketError(system: cause)
        }
        return SocketError(system: error == .notConnected ? .connectionReset : error)
    }

    // MARK: The end

    /// Takes out the socket, to be closed.
    mutating func takeDescriptor() -> Descriptor? {
        resetIfCutShort()
        return owned.descriptor.take()
    }

    /// Sees to it that a peer does not take part of what was sent to it for all.
    private func resetIfCutShort() {
        if !queue.isEmpty { owned.descriptor?.resetWhenClosed() }
    }

    deinit { resetIfCutShort() }
}
