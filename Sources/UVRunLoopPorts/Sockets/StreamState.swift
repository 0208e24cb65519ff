import UVRunLoop

/// A connection's socket and state.
///
/// Its system calls do not block, so they are made under the port's lock: that keeps another thread
/// from closing the descriptor, whose number could be reused, in between.
struct StreamState: ~Copyable, Sendable {
    typealias Events = StreamLifecycle.Events
    typealias Event = UVRunLoop.SocketPort.Event
    typealias SocketError = UVRunLoop.SocketError

    /// The result of serving the connection once.
    struct Outcome: Sendable {
        var event: Event?
        /// The connection has ended; this takes effect after the event is delivered.
        var isOver = false
        var hasMore = false
        var interestChanged = false
        /// When to serve the connection again without an event from the kernel.
        var nextDate: UVRunLoop.Instant?
        var hasAlarm = false
        var handler: HomeBound<UVRunLoop.SocketPort.Body>?
        /// Whether a task gets the events instead of the handler.
        var isTaken = false
        var resumptions = StreamTasks.Resumptions()
    }

    /// The caller's work after a change, without the lock.
    struct FollowUp: Sendable {
        var interestChanged = false
        var isReady = false
        var isOver = false
        var wasAccepted = true
        var resumptions = StreamTasks.Resumptions()
    }

    var resources: SocketResources
    /// Destroyed after the descriptor is closed, because it permits another connection.
    var permit: ConnectionPermit?
    var lifecycle: StreamLifecycle
    var queue = OutputQueue()
    /// The process whose bytes are in the queue.
    private var process = OwnerProcess()
    /// The events that the socket is watched for.
    private var registeredInterest: Events
    /// The target and deadline, while connecting.
    private var attempt: ConnectionAttempt? {
        get { boxedAttempt?.value }
        set { boxedAttempt = newValue.map(Boxed.init) }
    }
    private var boxedAttempt: Boxed<ConnectionAttempt>?
    /// At most one; out of line, so that it takes no room in connections with handlers.
    var tasks: [StreamTasks] = []

    init(connected descriptor: consuming Descriptor, _ permit: consuming ConnectionPermit?) {
        resources = SocketResources(descriptor)
        self.permit = permit
        lifecycle = StreamLifecycle(.open)
        registeredInterest = .readable
    }

    init(connecting descriptor: consuming Descriptor, _ attempt: ConnectionAttempt) {
        resources = SocketResources(descriptor)
        boxedAttempt = Boxed(attempt)
        lifecycle = StreamLifecycle(.retrying)
        registeredInterest = []
        permit = nil
        connect()
        registeredInterest = interest
    }

    var interest: Events { lifecycle.interest(queue) }

    var isReady: Bool { lifecycle.isReady(queue) }

    var isFinishing: Bool { resources.descriptor != nil && lifecycle.isFinishing }

    /// Records the events to watch the socket for.
    ///
    /// Returns whether they changed; `false` for a peer that is gone.
    private mutating func recordInterest() -> Bool {
        guard !lifecycle.isHungUp, registeredInterest != interest else { return false }
        registeredInterest = interest
        return true
    }

    // MARK: Connecting

    /// Starts or retries connecting.
    private mutating func connect() {
        guard let attempt else { return }
        do {
            switch try resources.descriptor?.connect(to: attempt.address) {
            case .done: lifecycle.phase = .connected
            case .inProgress: lifecycle.phase = .connecting
            case .backlogFull, nil: lifecycle.phase = .retrying
            }
        } catch {
            fail(SocketError(system: error))
        }
    }

    /// Advances connecting.
    private mutating func advanceAttempt(_ events: Events, _ now: UVRunLoop.Instant) {
        switch lifecycle.phase {
        case .retrying:
            connect()
            if lifecycle.phase == .retrying { attempt?.didFindBacklogFull(at: now) }
        case .connecting where !events.isEmpty: finishConnecting()
        case .connecting, .connected, .open: break
        }
        if lifecycle.phase == .connected { attempt = nil }
        if attempt?.isOverdue(at: now) == true { fail(SocketError(.timedOut)) }
    }

    /// Takes the result of connecting from the kernel.
    private mutating func finishConnecting() {
        do {
            let error = try resources.descriptor?.takeError()
            switch error {
            case nil: lifecycle.phase = .connected
            case .connectionReset, .brokenPipe:
                // The connection was established, and may have received bytes before it broke.
                lifecycle.phase = .connected
            default: break
            }
            if let error { fail(SocketError(system: error)) }
        } catch {
            fail(SocketError(system: error))
        }
    }

    // MARK: Serving

    /// Handles one event.
    mutating func serve(_ events: Events, at now: UVRunLoop.Instant) -> Outcome {
        guard resources.descriptor != nil else { return Outcome() }
        becomeOwner()
        var outcome = Outcome()
        // epoll reports an unconnected socket as hung up.
        if events.contains(.hangUp), lifecycle.phase != .retrying { lifecycle.isHungUp = true }
        if boxedAttempt != nil { advanceAttempt(events, now) }
        outcome.event = nextEvent(events)
        outcome.resumptions.taker = giveToTask(outcome.event)
        if case .failed(let error) = outcome.event {
            lifecycle.failure = lifecycle.failure ?? error
            outcome.isOver = true
        } else {
            outcome.isOver = lifecycle.isOver
        }
        outcome.hasMore = !outcome.isOver && boxedAttempt == nil && lifecycle.isReady(queue)
        outcome.interestChanged = recordInterest()
        outcome.nextDate = attempt?.nextDate(isRetrying: lifecycle.phase == .retrying)
        outcome.hasAlarm = resources.alarm != nil
        outcome.isTaken = resources.isTaken
        outcome.handler = outcome.isTaken ? nil : resources.handler
        outcome.resumptions.waits = takeSettledWaits()
        return outcome
    }

    private mutating func nextEvent(_ events: Events) -> Event? {
        switch lifecycle.phase {
        case .retrying, .connecting: return lifecycle.failure.map { .failed($0) }
        case .connected:
            lifecycle.phase = .open
            // With an empty queue, no later event would lead here.
            shutDownIfDue()
            return .connected
        case .open: return step(events)
        }
    }

    private mutating func step(_ events: Events) -> Event? {
        if !queue.isEmpty, events.contains(.writable) || lifecycle.isHungUp, flush() {
            return .drained
        }
        shutDownIfDue()
        if lifecycle.reads, events.contains(.readable) || lifecycle.readsToTheEnd {
            if let event = read() { return event }
        }
        if lifecycle.failsUnlessItHoldsInput {
            lifecycle.holdsInput = resources.descriptor?.holdsInput ?? false
        }
        guard !lifecycle.readsToTheEnd, !lifecycle.postponesFailure else { return nil }
        return lifecycle.failure.map { .failed($0) } ?? lastError()
    }

    private mutating func read() -> Event? {
        do {
            switch try resources.descriptor?.read() {
            case .bytes(let bytes): return .received(bytes)
            case .wouldBlock, nil:
                if lifecycle.failure != nil { lifecycle.peerDidEnd = true }
                socketWouldBlock()
                return nil
            case .end:
                lifecycle.peerDidEnd = true
                // After a hang-up the kernel reports nothing more that would lead to its reason.
                if lifecycle.isHungUp, lifecycle.failure == nil {
                    lifecycle.failure = takeError()
                }
                return lifecycle.isEndGenuine ? .ended : nil
            }
        } catch {
            return .failed(lifecycle.failure ?? SocketError(system: error))
        }
    }

    /// Takes back a hang-up: the peer is not gone, as a poll that failed had made believe.
    ///
    /// The socket is not watched any more after the hang-up.
    private mutating func socketWouldBlock() {
        guard lifecycle.isHungUp, lifecycle.failure == nil else { return }
        lifecycle.isHungUp = false
        registeredInterest = []
    }

    /// The error of a peer that is gone, while nothing is read.
    private mutating func lastError() -> Event? {
        guard lifecycle.isHungUp, lifecycle.peerDidEnd else { return nil }
        return takeError().map { .failed($0) }
    }

    private func takeError() -> SocketError? {
        let error = (try? resources.descriptor?.takeError()) ?? nil
        return error.map { SocketError(system: $0) }
    }

    // MARK: Sending

    /// Sends queued bytes.
    ///
    /// Returns whether the queue is now as short as the low mark.
    private mutating func flush() -> Bool {
        guard lifecycle.sends else { return false }
        do {
            let sent: Int?
            if let only = queue.only {
                sent = try resources.descriptor?.send(only)
            } else {
                sent = try resources.descriptor?.send(queue.first(Descriptor.maximumPieces))
            }
            guard let sent else {
                socketWouldBlock()
                return false
            }
            let hasRoom = queue.didSend(sent)
            shutDownIfDue()
            return hasRoom
        } catch {
            fail(reason(of: error))
            return false
        }
    }

    /// Sends as much as the socket accepts, and queues the rest.
    mutating func send(_ bytes: ArraySlice<UInt8>) -> FollowUp {
        becomeOwner()
        guard resources.descriptor != nil, lifecycle.accepts else {
            return FollowUp(wasAccepted: false)
        }
        var sent = 0
        do {
            if queue.isEmpty, lifecycle.sends, !bytes.isEmpty {
                sent = try resources.descriptor?.send(bytes) ?? 0
            }
        } catch {
            fail(reason(of: error), droppingBytes: true)
            return followUp(wasAccepted: false)
        }
        guard sent < bytes.count else { return FollowUp() }
        if queue.overflows(with: bytes.count - sent) {
            fail(SocketError(.queueOverflow), droppingBytes: true)
            // The peer may go on sending: the connection must not wait for its end.
            lifecycle.peerDidEnd = true
            return followUp(wasAccepted: false)
        }
        queue.append(bytes.dropFirst(sent))
        return followUp()
    }

    mutating func endSending(closing: Bool) -> FollowUp {
        becomeOwner()
        guard resources.descriptor != nil else { return FollowUp(wasAccepted: false) }
        lifecycle.end(closing: closing)
        shutDownIfDue()
        return followUp()
    }

    mutating func setPaused(_ isPaused: Bool) -> FollowUp {
        guard resources.descriptor != nil else { return FollowUp(wasAccepted: false) }
        lifecycle.isPaused = isPaused
        return followUp()
    }

    mutating func setLowMark(_ mark: Int) -> FollowUp {
        queue.lowMark = mark
        return resources.descriptor == nil ? FollowUp(wasAccepted: false) : followUp()
    }

    mutating func followUp(wasAccepted: Bool = true) -> FollowUp {
        FollowUp(
            interestChanged: recordInterest(),
            isReady: boxedAttempt == nil && lifecycle.isReady(queue),
            isOver: lifecycle.isOver,
            wasAccepted: wasAccepted,
            resumptions: StreamTasks.Resumptions(waits: takeSettledWaits())
        )
    }

    private mutating func shutDownIfDue() {
        guard lifecycle.shouldShutDown(queue) else { return }
        do throws(UVError) {
            // Unlike a TCP socket, a Unix-domain socket whose peer is gone can be shut down without
            // an error.
            if lifecycle.closesWhenDrained, let error = try resources.descriptor?.takeError() {
                throw error
            }
            try resources.descriptor?.endSending()
            lifecycle.didShutDown()
        } catch {
            fail(reason(of: error))
        }
    }

    // MARK: Failing

    /// Makes the connection fail; bytes that were received before are still read.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isDropping: Whether bytes are dropped that were not queued.
    private mutating func fail(_ error: SocketError, droppingBytes isDropping: Bool = false) {
        lifecycle.failure = lifecycle.failure ?? error
        attempt = nil
        resetIfCutShort(isDropping)
        queue.removeAll()
    }

    /// The reason why a send failed.
    ///
    /// `EPIPE` and `ENOTCONN` say only that sending has ended; the socket's pending error says why.
    private func reason(of error: UVError) -> SocketError {
        guard error == .brokenPipe || error == .notConnected else {
            return SocketError(system: error)
        }
        if let cause = (try? resources.descriptor?.takeError()) ?? nil {
            return SocketError(system: cause)
        }
        return SocketError(system: error == .notConnected ? .connectionReset : error)
    }

    // MARK: Closing

    /// Takes the descriptor, to close it.
    mutating func takeDescriptor() -> Descriptor? {
        resetIfCutShort()
        return resources.descriptor.take()
    }

    /// Makes closing reset the connection if queued bytes are dropped, or others: the peer must not
    /// take an end for that of all bytes.
    private func resetIfCutShort(_ isDropping: Bool = false) {
        if isDropping || !queue.isEmpty, process.isCurrent {
            resources.descriptor?.resetWhenClosed()
        }
    }

    /// Makes the connection this process's: a forked child that uses one of its parent's leaves the
    /// queue, of which it has a copy, and the end after it to the parent.
    private mutating func becomeOwner() {
        guard !process.isCurrent else { return }
        process = OwnerProcess()
        if !queue.isEmpty || lifecycle.isEnding { lifecycle.leaveSendingToParent() }
        queue.removeAll()
    }

    deinit { resetIfCutShort() }
}
