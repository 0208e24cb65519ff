import UVRunLoop

/// The state machine of a connection: what has happened, and what may be done next.
///
/// It makes no system call.
struct StreamLifecycle: Sendable {
    typealias Events = UVRunLoop.DescriptorEvents

    enum Phase: Sendable {
        /// The listener's backlog is full; connecting is retried.
        case retrying
        /// connect(2) is in progress.
        case connecting
        /// Connected, but the handler was not called yet.
        case connected
        case open
    }

    /// The state of the sending side.
    private enum Sending: Sendable {
        case open
        /// The queue is sent, then the sending side is shut down.
        case ending
        case ended
    }

    var phase: Phase
    var isPaused = false
    /// Nobody has taken the bytes that were read last.
    var isHeld = false
    /// The peer is gone: no event is to be expected, only its unread bytes.
    var isHungUp = false
    /// The peer has ended sending.
    var peerDidEnd = false
    /// The error that ends the connection once all input is read.
    var failure: UVRunLoop.SocketError?
    /// Whether there was unread input when the connection had failed while reading was paused.
    var holdsInput = false
    private var sending = Sending.open
    private(set) var closesWhenDrained = false

    init(_ phase: Phase) {
        self.phase = phase
    }

    // MARK: Receiving

    /// Whether input is wanted now or later.
    private var isReadable: Bool { phase == .open && !peerDidEnd && !closesWhenDrained }

    /// Whether input is wanted.
    var reads: Bool { isReadable && !isPaused && !isHeld }

    /// Whether an error waits until the bytes that were received before it are read.
    var postponesFailure: Bool { isReadable && (isPaused ? holdsInput : isHeld) }

    /// Whether an error waits if there is unread input.
    var failsUnlessItHoldsInput: Bool { isReadable && isPaused && failure != nil }

    /// Whether to read without an event from the kernel.
    ///
    /// A peer that is gone sends nothing more, so this ends.
    var readsToTheEnd: Bool { reads && (isHungUp || failure != nil) }

    /// Whether the end of the input is the end of what the peer sent.
    ///
    /// After a reset the kernel reports an end as well, but bytes may be missing. A peer that only
    /// no longer receives (`EPIPE`) has ended in order.
    var isEndGenuine: Bool { failure.map { $0.code == .brokenPipe } ?? true }

    // MARK: Sending

    /// Whether bytes may be sent or queued.
    var accepts: Bool { sending == .open && failure == nil }

    /// Whether bytes may be sent now.
    var sends: Bool {
        (phase == .open || phase == .connected) && sending != .ended && failure == nil
    }

    mutating func end(closing: Bool) {
        if sending == .open { sending = .ending }
        if closing { closesWhenDrained = true }
    }

    /// Whether to shut down the sending side now.
    func shouldShutDown(_ queue: OutputQueue) -> Bool {
        sends && sending == .ending && queue.isEmpty
    }

    mutating func didShutDown() { sending = .ended }

    /// Whether the end of sending waits for the queue.
    var isEnding: Bool { sending == .ending }

    /// Sends no more, without an end: the parent process does, whose bytes wait.
    mutating func leaveSendingToParent() { sending = .ended }

    /// Whether queued bytes are still to be sent, or the sending side still to be shut down, or an
    /// error still to be delivered that does not wait for anybody to read.
    var isFinishing: Bool { sending == .ending && !(failure != nil && postponesFailure) }

    // MARK: Both directions

    /// The events to watch the socket for.
    func interest(_ queue: OutputQueue) -> Events {
        switch phase {
        case .retrying: return []
        case .connecting: return .writable
        case .connected, .open:
            var events: Events = reads ? .readable : []
            if !queue.isEmpty, sends { events.insert(.writable) }
            return events
        }
    }

    /// Whether both directions have ended.
    var isOver: Bool {
        phase == .open && sending == .ended && (peerDidEnd || closesWhenDrained)
    }

    /// Whether to serve the connection without an event from the kernel.
    func isReady(_ queue: OutputQueue) -> Bool {
        // Sending to a peer that is gone returns the reason.
        let sendsInVain = isHungUp && sends && !queue.isEmpty
        let fails = failure != nil && !postponesFailure
        return phase != .open || isOver || fails || readsToTheEnd || sendsInVain
    }
}
