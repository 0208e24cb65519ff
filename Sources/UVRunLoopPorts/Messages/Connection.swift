import UVRunLoop

/// A peer of a local port: what has come from it and what waits to go to it.
struct Connection: Sendable {
    /// What a turn of the connection brought.
    enum Input: Sendable {
        case frame(Frame)
        /// Nothing whole.
        case incomplete
        /// It is over: the peer is gone, or broke a rule.
        case ended
    }

    /// What is to be done about a connection after something was done with it.
    struct Update {
        /// What the kernel is to be asked about from now on; `nil` for no change.
        let newInterest: EventSet.Events?
        /// Whether there is more to look at that the kernel does not know of.
        let hasUnparsed: Bool
        /// When something has to have happened.
        let deadline: Int64?
        /// How many bytes more than before are kept, or how many fewer.
        let growth: Int
    }

    let socket: SharedSocket
    let peer: PeerCredentials
    private let timeLimit: Int64
    private var parser: FrameParser
    /// What was read and not looked at yet: further frames of the same read.
    private var unparsed: ArraySlice<UInt8> = []
    private var sendQueue = FrameQueue()
    /// The peer takes nothing any more; what it sent may still be there.
    private var peerStoppedReading = false
    /// When the frame that is coming in has to be whole.
    private var frameDeadline: Int64?
    /// When the peer has to have taken something of what goes out.
    private var sendDeadline: Int64?
    private let idleLimit: Int64?
    /// When the peer has to have sent something, unless it waits for something.
    private var idleDeadline: Int64?
    /// How many bytes were kept when somebody asked last.
    private(set) var reportedByteCount = 0

    init(_ socket: SharedSocket, _ peer: PeerCredentials, _ limits: MessagePort.Limits) {
        self.socket = socket
        self.peer = peer
        parser = FrameParser(side: .local, maximumPayload: limits.maximumMessageSize)
        timeLimit = max(limits.frameTimeLimit.nanosecondsRoundedUp, 0)
        idleLimit = limits.idleTimeLimit.map { max($0.nanosecondsRoundedUp, 0) }
        restartIdleTimer()
    }

    /// Whether there is more to look at that the kernel does not know of.
    var hasUnparsed: Bool { !unparsed.isEmpty && sendQueue.isEmpty }

    /// What the kernel is to be asked about: while a reply waits, no further request is read.
    var interest: EventSet.Events { sendQueue.isEmpty ? .readable : .writable }

    /// When something has to have happened.
    var deadline: Int64? {
        guard let frameDeadline, let sendDeadline else {
            return frameDeadline ?? sendDeadline ?? idleDeadline
        }
        return min(frameDeadline, sendDeadline)
    }

    /// How many bytes are kept for the peer.
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

    // MARK: In

    /// Handles one frame, or reads once.
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
                parse { parser, unparsed throws(FrameError) in
                    var position = 0
                    let frame = try parser.next(in: bytes, from: &position)
                    unparsed = bytes.copy(position..<bytes.byteCount)[...]
                    return frame
                }
            }
            switch ready {
            case .bytes(let received):
                restartIdleTimer()
                return received
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
        do throws(FrameError) {
            if let frame = try next(&parser, &unparsed) {
                frameDeadline = nil
                return .frame(frame)
            }
        } catch {
            refuse(error.reason)
            return .ended
        }
        if frameDeadline == nil { frameDeadline = monotonicNow().addingSaturating(timeLimit) }
        return .incomplete
    }

    // MARK: Out

    mutating func send(_ frame: Frame) {
        guard !peerStoppedReading else { return }
        updateSendQueue { sendQueue, socket throws(UVError) in
            try sendQueue.send(frame, to: socket.descriptor) == nil
        }
    }

    /// Says why the connection ends, as far as there is room to say it.
    func refuse(_ reason: RefusalReason) {
        guard sendQueue.isEmpty else { return }
        _ = try? socket.descriptor.send(Frame.refusal(reason).head()[...])
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
                sendDeadline = monotonicNow().addingSaturating(timeLimit)
            }
        } catch {
            // What the peer sent before it went is delivered all the same.
            peerStoppedReading = true
            sendQueue.removeAll()
            sendDeadline = nil
        }
    }

    // MARK: Time

    private mutating func restartIdleTimer() {
        if let idleLimit { idleDeadline = monotonicNow().addingSaturating(idleLimit) }
    }

    /// Whether the peer has used up its time.
    ///
    /// If the rest of the frame is there, or another one, and only this side did not come to read
    /// it, the peer is not to blame.
    mutating func isOverdue(at now: Int64) -> Bool {
        if let sendDeadline, sendDeadline <= now { return true }
        guard let deadline, deadline <= now else { return false }
        guard hasUnparsed || socket.descriptor.unreadByteCount > 0 else { return true }
        let nextDeadline = now.addingSaturating(1_000_000_000)
        if frameDeadline != nil {
            frameDeadline = nextDeadline
        } else {
            idleDeadline = nextDeadline
        }
        return false
    }
}

/// A socket that a connection and a call under way may share.
final class SharedSocket: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}

extension FrameError {
    /// What the peer is told.
    fileprivate var reason: RefusalReason {
        if case .payloadTooLarge = self { .messageTooLarge } else { .malformedFrame }
    }
}
