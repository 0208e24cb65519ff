import UVRunLoop

/// The sockets of a local port: its listener, its connections, and the epoll set that the port's
/// loop watches for all of them.
///
/// It is protected by the port's lock, so it does not block or call out: messages and policy
/// decisions are returned to the caller.
struct LocalPortServer: ~Copyable, Sendable {
    /// The caller's next step.
    enum Step: Sendable {
        case deliver(Frame, from: PeerCredentials, on: UInt64)
        /// A client connected, and the policy has to decide.
        case admit(SharedSocket, PeerCredentials)
        case nothing
    }

    private static let listenerTag: UInt64 = 0
    private static let timerTag: UInt64 = 1
    /// How many rounds may serve buffered input before the kernel is polled.
    private static let roundsWithoutPoll = 16
    /// How long accepting pauses after a shortage, in nanoseconds.
    private static let pause: Int64 = 100_000_000

    let limits: MessagePort.Limits
    private let hasPolicy: Bool
    private let eventSet: EventSet
    private let listener: Descriptor
    private let timer: TimerDescriptor
    private var connections = ConnectionTable()
    /// The connection that was served last.
    private var lastTag: UInt64 = 0
    private var connectionsOfUser: [UInt32: Int] = [:]
    /// The number of bytes kept for all connections.
    private(set) var keptByteCount = 0
    private let maximumKeptBytes: Int
    /// The tags to serve in this round, in reverse order.
    private var round: [UInt64] = []
    /// The tags to serve in the next round.
    private var nextRound: [UInt64] = []
    private var roundsSincePoll = 0
    /// The deadline that the timer is set to.
    private var timerDate: Int64?
    /// When accepting resumes; `nil` while it is not paused.
    private var acceptRetry: Int64?
    /// Whether no message may be read: a task takes them, and nobody took the latest one.
    private(set) var isHeld = false
    /// The connections whose request a task has not replied to.
    private var awaitingReply: Set<UInt64> = []
    /// The connections that have input which may not be read now; they are not in the epoll set.
    private var parked: Set<UInt64> = []

    init(
        listener: consuming Descriptor,
        limits: MessagePort.Limits,
        hasPolicy: Bool
    ) throws(UVError) {
        let eventSet = try EventSet()
        let timer = try TimerDescriptor()
        try eventSet.add(listener.number, .readable, tag: Self.listenerTag)
        try eventSet.add(timer.descriptor.number, .readable, tag: Self.timerTag)
        self.limits = limits
        // A header, and what a read returns beyond a message, are added.
        let largest = limits.maximumMessageSize.addingReportingOverflow(2 * ReadBuffer.size)
        maximumKeptBytes = max(limits.maximumBufferedSize, largest.overflow ? .max : largest.0)
        self.hasPolicy = hasPolicy
        self.eventSet = eventSet
        self.timer = timer
        self.listener = listener
    }

    /// The descriptor that the port's loop watches.
    var descriptor: CInt { eventSet.descriptor.number }

    /// Whether there is work of which the kernel reports nothing.
    var hasMore: Bool { !round.isEmpty || !nextRound.isEmpty }

    var connectionCount: Int { connections.count }

    // MARK: Serving

    /// Serves connections until the caller has something to do, at most to the end of a round.
    mutating func step() -> Step {
        if round.isEmpty {
            // A single connection is very likely the ready one, so it is served without a poll. If
            // it is not, the kernel is polled, and also regularly for new clients.
            if nextRound.isEmpty, connections.count == 1, roundsSincePoll < Self.roundsWithoutPoll,
                mayRead(lastTag), let step = serveConnection(lastTag)
            {
                roundsSincePoll += 1
                return step
            }
            beginRound()
        }
        while let tag = round.popLast() {
            if let step = serve(tag) { return step }
        }
        return .nothing
    }

    private mutating func beginRound() {
        round = exchange(&nextRound, with: [])
        roundsSincePoll += 1
        if !round.isEmpty, roundsSincePoll < Self.roundsWithoutPoll { return }
        roundsSincePoll = 0
        let ready = (try? eventSet.poll()) ?? []
        // A connection is served once per round: a duplicate would be kept in all later rounds.
        let known = Set(round)
        round += ready.reversed().lazy.map(\.tag).filter { !known.contains($0) }
    }

    private mutating func serve(_ tag: UInt64) -> Step? {
        switch tag {
        case Self.listenerTag: accept()
        case Self.timerTag: timerDidFire()
        default: serveConnection(tag)
        }
    }

    private mutating func serveConnection(_ tag: UInt64) -> Step? {
        guard mayRead(tag) else {
            serveWithoutReading(tag)
            return nil
        }
        let served = connections.modify(tag) { connection in
            let before = connection.interest
            let received = connection.receive()
            return (received, connection.update(since: before), connection.peer)
        }
        guard let (received, update, peer) = served else { return nil }
        lastTag = tag
        keptByteCount += update.growth
        switch received {
        case .ended: drop(tag)
        case .incomplete: didServe(tag, update)
        case .frame(let frame):
            if didServe(tag, update) { return .deliver(frame, from: peer, on: tag) }
        }
        return nil
    }

    /// Updates the epoll set and the timer after a connection was used.
    ///
    /// - Returns: Whether the connection still exists.
    @discardableResult
    private mutating func didServe(_ tag: UInt64, _ update: Connection.Update) -> Bool {
        if let interest = update.newInterest, let connection = connections[tag] {
            do {
                try eventSet.modify(connection.socket.descriptor.number, interest, tag: tag)
            } catch {
                drop(tag)
                return false
            }
        }
        if update.hasUnparsed { nextRound.append(tag) }
        if let date = update.deadline { arm(date) }
        return endHeaviestConnections(for: tag)
    }

    // MARK: Messages for a task

    private func mayRead(_ tag: UInt64) -> Bool {
        !isHeld && (awaitingReply.isEmpty || !awaitingReply.contains(tag))
    }

    /// Sends pending replies; a connection that has input leaves the epoll set, which would report
    /// it, or the peer's end, over and over.
    private mutating func serveWithoutReading(_ tag: UInt64) {
        let update = connections.modify(tag) { connection -> Connection.Update? in
            let before = connection.interest
            guard before != .readable else { return nil }
            connection.flushReplies()
            return connection.update(since: before)
        }
        guard let update else { return }
        if let update {
            keptByteCount += update.growth
            didServe(tag, update)
        } else if parked.insert(tag).inserted, let connection = connections[tag] {
            eventSet.remove(connection.socket.descriptor.number)
        }
    }

    private mutating func unpark(_ tag: UInt64) {
        guard parked.remove(tag) != nil, let connection = connections[tag] else { return }
        do {
            try eventSet.add(connection.socket.descriptor.number, connection.interest, tag: tag)
        } catch {
            return drop(tag)
        }
        if connection.hasUnparsed, !nextRound.contains(tag) { nextRound.append(tag) }
    }

    /// Sets whether messages may be read.
    mutating func setHeld(_ isHeld: Bool) {
        guard isHeld != self.isHeld else { return }
        self.isHeld = isHeld
        if !isHeld { parked.filter { !awaitingReply.contains($0) }.forEach { unpark($0) } }
    }

    /// Reads no further message of a connection until the reply to its request.
    mutating func awaitReply(on tag: UInt64) { awaitingReply.insert(tag) }

    // MARK: Replies

    /// Sends the reply to a request, as much of it as the socket accepts.
    mutating func reply(_ data: [UInt8]?, to number: UInt64, on tag: UInt64) {
        if awaitingReply.remove(tag) != nil { unpark(tag) }
        let largest = min(limits.maximumMessageSize, Frame.largestPayload)
        let isTooLarge = data.map { $0.count > largest } ?? false
        let frame: Frame =
            isTooLarge ? .refusal(.messageTooLarge, of: number) : .reply(number, data)
        let change = connections.modify(tag) { connection in
            let (before, hadUnparsed) = (connection.interest, connection.hasUnparsed)
            connection.send(frame)
            connection.restartIdleTimer()
            return (hadUnparsed, connection.update(since: before))
        }
        // Its input is already scheduled; only the changes by the reply are applied.
        guard let (hadUnparsed, update) = change else { return }
        keptByteCount += update.growth
        if update.newInterest != nil || hadUnparsed != update.hasUnparsed {
            nextRound.removeAll { $0 == tag }
            didServe(tag, update)
        } else {
            if let date = update.deadline { arm(date) }
            _ = endHeaviestConnections(for: tag)
        }
    }

    // MARK: Memory limit

    /// Closes connections while they together exceed the memory limit.
    ///
    /// - Returns: Whether the connection that was used still exists.
    private mutating func endHeaviestConnections(for tag: UInt64) -> Bool {
        guard keptByteCount > maximumKeptBytes else { return true }
        while keptByteCount > maximumKeptBytes, let heaviest = heaviestConnection {
            connections[heaviest]?.refuse(.noRoomLeft)
            drop(heaviest)
        }
        return connections[tag] != nil
    }

    /// The connection that uses most memory, of the user who uses most.
    private var heaviestConnection: UInt64? {
        let shares = connections.tags.compactMap { tag in
            connections[tag].map { (tag: tag, user: $0.peer.user, count: $0.keptByteCount) }
        }
        let users = Dictionary(grouping: shares, by: \.user)
        let heaviestUser = users.values.max { left, right in
            left.reduce(0) { $0 + $1.count } < right.reduce(0) { $0 + $1.count }
        }
        return heaviestUser?.max { $0.count < $1.count }?.tag
    }

    // MARK: Accepting

    private mutating func accept() -> Step? {
        do throws(UVError) {
            guard let descriptor = try listener.accept() else { return nil }
            let peer = try descriptor.peerCredentials()
            let socket = SharedSocket(descriptor)
            // More clients may be waiting.
            nextRound.append(Self.listenerTag)
            if hasPolicy { return .admit(socket, peer) }
            admit(socket, peer, isPermitted: peer.isSameUser)
        } catch {
            // Any error but an aborted connection may persist, and leaves the client in the
            // backlog.
            if error != .connectionAborted { pauseAccepting() }
        }
        return nil
    }

    /// Adds a connection, or refuses and closes it.
    mutating func admit(_ socket: SharedSocket, _ peer: PeerCredentials, isPermitted: Bool) {
        let connection = Connection(socket, peer, limits)
        guard isPermitted else { return connection.refuse(.peerNotPermitted) }
        let countOfUser = connectionsOfUser[peer.user] ?? 0
        guard connections.count < limits.maximumConnections,
            countOfUser < limits.maximumConnectionsPerUser
        else { return connection.refuse(.tooManyConnections) }
        do {
            try eventSet.add(socket.descriptor.number, .readable, tag: connections.nextTag)
        } catch {
            return connection.refuse(.tooManyConnections)
        }
        if let date = connection.deadline { arm(date) }
        connections.insert(connection)
        connectionsOfUser[peer.user] = countOfUser + 1
    }

    private mutating func drop(_ tag: UInt64) {
        guard let connection = connections.remove(tag) else { return }
        // Tells the peer at once, even if a forked child has a copy of the descriptor.
        connection.socket.descriptor.shutDown()
        keptByteCount -= connection.reportedByteCount
        parked.remove(tag)
        awaitingReply.remove(tag)
        eventSet.remove(connection.socket.descriptor.number)
        let user = connection.peer.user
        let left = (connectionsOfUser[user] ?? 1) - 1
        connectionsOfUser[user] = left > 0 ? left : nil
        // Closing frees a descriptor, which may have been the shortage.
        if acceptRetry != nil { resumeAccepting() }
    }

    /// Leaves clients in the backlog for a while.
    private mutating func pauseAccepting() {
        eventSet.remove(listener.number)
        let date = monotonicNow() + Self.pause
        acceptRetry = date
        nextRound.removeAll { $0 == Self.listenerTag }
        arm(date)
    }

    private mutating func resumeAccepting() {
        do {
            try eventSet.add(listener.number, .readable, tag: Self.listenerTag)
            acceptRetry = nil
        } catch {
            let date = monotonicNow() + Self.pause
            acceptRetry = date
            arm(date)
        }
    }

    /// Ends all connections, as closing does, for peers that would wait for a forked child's
    /// copies.
    func shutDown() {
        listener.shutDown()
        for tag in connections.tags { connections[tag]?.socket.descriptor.shutDown() }
    }

    // MARK: Timeouts

    /// Sets the timer, unless it fires early enough.
    ///
    /// It is not set to a later time here, which would cost a system call for each frame;
    /// `timerDidFire()` does that.
    private mutating func arm(_ date: Int64) {
        guard timerDate.map({ date < $0 }) ?? true else { return }
        timerDate = date
        timer.set(to: date)
    }

    private mutating func timerDidFire() -> Step? {
        let now = monotonicNow()
        guard let timerDate, timerDate <= now else { return nil }
        self.timerDate = nil
        timer.set(to: nil)
        let tags = connections.tags
        for tag in awaitingReply { _ = connections.modify(tag) { $0.stopIdleTimer() } }
        for tag in tags {
            let mayRead = mayRead(tag)
            let isOverdue = connections.modify(tag) { $0.isOverdue(at: now, mayRead: mayRead) }
            if isOverdue ?? false { drop(tag) }
        }
        if let acceptRetry, acceptRetry <= now { resumeAccepting() }
        let dates = tags.compactMap { connections[$0]?.deadline } + [acceptRetry].compactMap(\.self)
        if let next = dates.min() { arm(next) }
        return nil
    }
}
