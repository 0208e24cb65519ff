import UVRunLoop

/// A socket that a connection and a call under way may share.
final class SharedSocket: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}

/// A peer of a local port: what has come from it and what waits to go to it.
struct Connection: Sendable {
    /// What a turn of the connection brought.
    enum Turn: Sendable {
        case frame(Frame)
        /// Nothing whole.
        case nothing
        /// It is over: the peer is gone, or broke a rule.
        case ended
    }

    /// What is to be done about a connection after something was done with it.
    struct Needs {
        /// What the kernel is to be asked about from now on; `nil` for no change.
        let newInterest: EventSet.Events?
        /// Whether there is more to look at that the kernel does not know of.
        let hasInput: Bool
        /// When something has to have happened.
        let date: Int64?
        /// How many bytes more than before are kept, or how many fewer.
        let growth: Int
    }

    let socket: SharedSocket
    let peer: PeerCredentials
    private let timeLimit: Int64
    private var parser: FrameParser
    /// What was read and not looked at yet: further frames of the same read.
    private var input: ArraySlice<UInt8> = []
    private var outbox = Outbox()
    /// The peer takes nothing any more; what it sent may still be there.
    private var peerStoppedReading = false
    /// When the frame that is coming in has to be whole.
    private var inDate: Int64?
    /// When the peer has to have taken something of what goes out.
    private var outDate: Int64?
    private let idleLimit: Int64?
    /// When the peer has to have sent something, unless it waits for something.
    private var idleDate: Int64?
    /// How many bytes were kept when somebody asked last.
    private(set) var knownByteCount = 0

    init(_ socket: SharedSocket, _ peer: PeerCredentials, _ limits: MessagePort.Limits) {
        self.socket = socket
        self.peer = peer
        parser = FrameParser(side: .local, maximumPayload: limits.maximumMessageSize)
        timeLimit = max(limits.frameTimeLimit.nanosecondsRoundedUp, 0)
        idleLimit = limits.idleTimeLimit.map { max($0.nanosecondsRoundedUp, 0) }
        noteActivity()
    }

    /// Whether there is more to look at that the kernel does not know of.
    var hasInput: Bool { !input.isEmpty && outbox.isEmpty }

    /// What the kernel is to be asked about: while a reply waits, no further request is read.
    var interest: EventSet.Events { outbox.isEmpty ? .readable : .writable }

    /// When something has to have happened.
    var date: Int64? {
        guard let inDate, let outDate else { return inDate ?? outDate ?? idleDate }
        return min(inDate, outDate)
    }

    /// How many bytes are kept for the peer.
    var keptByteCount: Int { parser.keptByteCount + input.count + outbox.keptByteCount }

    mutating func needs(since before: EventSet.Events) -> Needs {
        let (interest, count) = (interest, keptByteCount)
        defer { knownByteCount = count }
        return Needs(
            newInterest: interest == before ? nil : interest,
            hasInput: hasInput,
            date: date,
            growth: count - knownByteCount
        )
    }

    // MARK: In

    /// Handles one frame, or reads once.
    mutating func takeTurn() -> Turn {
        if !outbox.isEmpty { flush() }
        guard outbox.isEmpty else { return .nothing }
        return input.isEmpty
            ? read()
            : parse { parser, input throws(FrameError) in
                try parser.next(from: &input)
            }
    }

    private mutating func read() -> Turn {
        let socket = socket
        do throws(UVError) {
            let found = try socket.descriptor.read { bytes in
                parse { parser, input throws(FrameError) in
                    var position = 0
                    let frame = try parser.next(in: bytes, from: &position)
                    input = bytes.copy(position..<bytes.byteCount)[...]
                    return frame
                }
            }
            switch found {
            case .bytes(let turn):
                noteActivity()
                return turn
            case .wouldBlock: return .nothing
            case .end: return .ended
            }
        } catch {
            return .ended
        }
    }

    private mutating func parse(
        _ next: (inout FrameParser, inout ArraySlice<UInt8>) throws(FrameError) -> Frame?
    ) -> Turn {
        do throws(FrameError) {
            if let frame = try next(&parser, &input) {
                inDate = nil
                return .frame(frame)
            }
        } catch {
            refuse(error.reason)
            return .ended
        }
        if inDate == nil { inDate = monotonicNow().addingSaturating(timeLimit) }
        return .nothing
    }

    // MARK: Out

    mutating func send(_ frame: Frame) {
        guard !peerStoppedReading else { return }
        moveOut { outbox, socket throws(UVError) in
            try outbox.post(frame, to: socket.descriptor) == nil
        }
    }

    /// Says why the connection ends, as far as there is room to say it.
    func refuse(_ reason: RefusalReason) {
        guard outbox.isEmpty else { return }
        _ = try? socket.descriptor.send(Frame.refusal(reason).head()[...])
    }

    private mutating func flush() {
        moveOut { outbox, socket throws(UVError) in try outbox.flush(to: socket.descriptor) }
    }

    private mutating func moveOut(
        _ move: (inout Outbox, SharedSocket) throws(UVError) -> Bool
    ) {
        do throws(UVError) {
            let isMoving = try move(&outbox, socket)
            if outbox.isEmpty {
                outDate = nil
                noteActivity()
            } else if isMoving || outDate == nil {
                outDate = monotonicNow().addingSaturating(timeLimit)
            }
        } catch {
            // What the peer sent before it went is delivered all the same.
            peerStoppedReading = true
            outbox.removeAll()
            outDate = nil
        }
    }

    // MARK: Time

    private mutating func noteActivity() {
        if let idleLimit { idleDate = monotonicNow().addingSaturating(idleLimit) }
    }

    /// Whether the peer has used up its time.
    ///
    /// If the rest of the frame is there, or another one, and only this side did not come to read
    /// it, the peer is not to blame.
    mutating func isOverdue(at now: Int64) -> Bool {
        if let outDate, outDate <= now { return true }
        guard let date, date <= now else { return false }
        guard hasInput || socket.descriptor.unreadByteCount > 0 else { return true }
        let nextDate = now.addingSaturating(1_000_000_000)
        if inDate != nil { inDate = nextDate } else { idleDate = nextDate }
        return false
    }
}

extension FrameError {
    /// What the peer is told.
    fileprivate var reason: RefusalReason {
        if case .payloadTooLarge = self { .messageTooLarge } else { .malformedFrame }
    }
}
