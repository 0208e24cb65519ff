import UVRunLoop

/// A connection of a local port: its unparsed input and its unsent replies.
struct Connection: Sendable {
    /// The result of ``receive()``.
    enum Input: Sendable {
        case frame(Frame)
        /// No complete frame.
        case incomplete
        /// The connection has ended: the peer is gone, or broke the protocol.
        case ended
    }

    /// Updates for the port's server after the connection was used.
    struct Update {
        /// The events to watch the socket for; `nil` if unchanged.
        let newInterest: EventSet.Events?
        /// Whether there is input to parse, of which the kernel reports nothing.
        let hasUnparsed: Bool
        /// When the connection times out.
        let deadline: Int64?
        /// The change of the number of bytes kept, since the last update.
        let growth: Int
    }

    /// The shortest extension of a frame's time, in nanoseconds, lest a timer fires over and over.
    private static let shortestExtension: Int64 = 1_000_000_000

    let socket: SharedSocket
    let peer: PeerCredentials
    private let timeLimit: Int64
    private var parser: FrameParser
    /// Bytes that were read but not parsed: further frames of the same read.
    private var unparsed: ArraySlice<UInt8> = []
    private var sendQueue = FrameQueue()
    /// The peer no longer receives; its unread bytes are still processed.
    private var peerStoppedReading = false
    /// When the incoming frame has to be complete.
    private var frameDeadline: Int64?
    /// The bytes that had arrived, unread, when the incoming frame's time was over; `nil` before.
    ///
    /// They still count, because this side may have been too busy to read them. The frame has to
    /// be complete when they are read, so a peer gains nothing by sending more.
    private var unreadAtLimit: Int?
    /// When the peer has to have read some of the pending reply.
    private var sendDeadline: Int64?
    /// What the kernel held of it when that date was set.
    private var untakenBefore = 0
    private let idleLimit: Int64?
    /// When an idle peer times out.
    private var idleDeadline: Int64?
    /// The number of bytes kept at the last update.
    private(set) var reportedByteCount = 0

    init(_ socket: SharedSocket, _ peer: PeerCredentials, _ limits: MessagePort.Limits) {
        self.socket = socket
        self.peer = peer
        parser = FrameParser(side: .local, maximumPayload: limits.maximumMessageSize)
        timeLimit = max(limits.frameTimeLimit.nanosecondsRoundedUp, 0)
        idleLimit = limits.idleTimeLimit.map { max($0.nanosecondsRoundedUp, 0) }
        restartIdleTimer()
    }

    /// Whether there is input to parse, of which the kernel reports nothing.
    var hasUnparsed: Bool { !unparsed.isEmpty && sendQueue.isEmpty }

    /// The events to watch the socket for: while a reply is pending, no request is read.
    var interest: EventSet.Events { sendQueue.isEmpty ? .readable : .writable }

    /// When the connection times out.
    var deadline: Int64? {
        guard let frameDeadline, let sendDeadline else {
            return frameDeadline ?? sendDeadline ?? idleDeadline
        }
        return min(frameDeadline, sendDeadline)
    }

    /// The number of bytes kept for the peer.
    var keptByteCount: Int { parser.keptByteCount + unparsed.count + sendQueue.keptByteCount }

    mutating func update(since before: EventSet.Events) -> Update {
        let (interest, count) = (interest, keptByteCount)
        defer { reportedByteCount = count }
        return Update(
            newInterest: interest == before ? nil : interest,
            hasUnparsed: hasUnparsed,
            deadline: deadline,
            growth: count - reportedByteCount
        )
    }

    // MARK: Receiving

    /// Parses one frame of earlier input, or reads once.
    mutating func receive() -> Input {
        if !sendQueue.isEmpty { flush() }
        guard sendQueue.isEmpty else { return .incomplete }
        return unparsed.isEmpty
            ? read()
            : parse { parser, unparsed throws(FrameError) in
                try parser.next(from: &unparsed)
            }
    }

    private mutating func read() -> Input {
        let socket = socket
        do throws(UVError) {
            let ready = try socket.descriptor.read { bytes in
                let input = parse { parser, unparsed throws(FrameError) in
                    var position = 0
                    let frame = try parser.next(in: bytes, from: &position)
                    unparsed = bytes.copy(position..<bytes.byteCount)[...]
                    return frame
                }
                return mayGoOn(after: bytes.byteCount) ? input : .ended
            }
            switch ready {
            case .bytes(let received): return received
            case .wouldBlock: return .incomplete
            case .end: return .ended
            }
        } catch {
            return .ended
        }
    }

    private mutating func parse(
        _ next: (inout FrameParser, inout ArraySlice<UInt8>) throws(FrameError) -> Frame?
    ) -> Input {
        restartIdleTimer()
        do throws(FrameError) {
            if let frame = try next(&parser, &unparsed) {
                frameDeadline = nil
                unreadAtLimit = nil
                return .frame(frame)
            }
        } catch {
            refuse(error.reason)
            return .ended
        }
        if frameDeadline == nil { frameDeadline = monotonicNow().addingSaturating(timeLimit) }
        return .incomplete
    }

    // MARK: Sending

    mutating func send(_ frame: Frame) {
        guard !peerStoppedReading else { return }
        updateSendQueue { sendQueue, socket throws(UVError) in
            try sendQueue.send(frame, to: socket.descriptor) == nil
        }
    }

    /// Tells the peer why the connection ends, if the socket accepts it now.
    func refuse(_ reason: RefusalReason) {
        guard sendQueue.isEmpty else { return }
        _ = try? socket.descriptor.send(Frame.refusal(reason).head()[...])
    }

    /// Sends more of a pending reply.
    mutating func flushReplies() {
        if !sendQueue.isEmpty { flush() }
    }

    private mutating func flush() {
        updateSendQueue { sendQueue, socket throws(UVError) in
            try sendQueue.flush(to: socket.descriptor)
        }
    }

    private mutating func updateSendQueue(
        _ operation: (inout FrameQueue, SharedSocket) throws(UVError) -> Bool
    ) {
        do throws(UVError) {
            let progressed = try operation(&sendQueue, socket)
            if sendQueue.isEmpty {
                sendDeadline = nil
                restartIdleTimer()
            } else if progressed || sendDeadline == nil {
                restartSendTimer(at: monotonicNow())
            }
        } catch {
            // Messages that the peer sent earlier are still delivered. If it still reads, it must not
            // wait for replies that will not come.
            socket.descriptor.shutDown()
            peerStoppedReading = true
            sendQueue.removeAll()
            sendDeadline = nil
        }
    }

    // MARK: Timeouts

    /// Counts from now on how long the peer is idle.
    mutating func restartIdleTimer() {
        if let idleLimit { idleDeadline = monotonicNow().addingSaturating(idleLimit) }
    }

    /// Stops the time until ``restartIdleTimer()``: a reply is pending.
    mutating func stopIdleTimer() { idleDeadline = nil }

    /// Whether the connection has timed out.
    ///
    /// Bytes that have arrived by now count as received in time, although this side has not read
    /// them yet.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - mayRead: Whether this side may read them; if not, it is not the peer that is slow.
    /// - Returns: Whether it has.
    mutating func isOverdue(at now: Int64, mayRead: Bool = true) -> Bool {
        if let sendDeadline, sendDeadline <= now, !peerHasRead(by: now) { return true }
        guard let deadline, deadline <= now else { return false }
        let unread = socket.descriptor.unreadByteCount
        guard hasUnparsed || unread > 0 else { return true }
        if frameDeadline == nil {
            // Until the next frame is parsed.
            idleDeadline = .max
        } else if mayRead {
            frameDeadline = .max
            unreadAtLimit = unread
        } else {
            frameDeadline = now.addingSaturating(max(timeLimit, Self.shortestExtension))
        }
        return false
    }

    private mutating func restartSendTimer(at now: Int64) {
        sendDeadline = now.addingSaturating(timeLimit)
        untakenBefore = socket.descriptor.untakenByteCount
    }

    /// Whether the peer has read some of the pending reply in its time, which then begins anew.
    ///
    /// The socket tells only when the peer has read most of what the kernel holds.
    private mutating func peerHasRead(by now: Int64) -> Bool {
        guard socket.descriptor.untakenByteCount < untakenBefore else { return false }
        restartSendTimer(at: now)
        return true
    }

    /// Accounts for bytes that were read.
    ///
    /// - Returns: Whether the incoming frame, if it is incomplete, may still become complete.
    private mutating func mayGoOn(after count: Int) -> Bool {
        guard let left = unreadAtLimit else { return true }
        unreadAtLimit = left - count
        return count < left
    }
}

/// A socket that a connection shares with a call in progress.
final class SharedSocket: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}

extension FrameError {
    /// The reason that the peer is given.
    fileprivate var reason: RefusalReason {
        if case .payloadTooLarge = self { .messageTooLarge } else { .malformedFrame }
    }
}
