import UVRunLoop

/// How far a connection has come, and what may be done with it now.
///
/// It is told facts and answers questions; it performs nothing.
struct StreamCourse: Sendable {
    typealias Events = UVRunLoop.DescriptorSource.Events

    enum Phase: Sendable {
        /// The listener's line is full: to be tried again.
        case inLine
        /// The kernel is about it.
        case connecting
        /// The handler has not been told.
        case connected
        case open
    }

    /// What became of our direction.
    private enum Sending: Sendable {
        case open
        /// What is queued goes out, and then no more.
        case ending
        case ended
    }

    var phase: Phase
    var isPaused = false
    /// The peer is gone: there is nothing to wait for, only to read what it left.
    var isHungUp = false
    /// The peer sends no more.
    var peerDidEnd = false
    /// What ends the connection, once there is nothing left to read.
    var failure: UVRunLoop.SocketError?
    private var sending = Sending.open
    private(set) var closesWhenDrained = false

    init(_ phase: Phase) {
        self.phase = phase
    }

    // MARK: Input

    /// Whether input is wanted.
    var reads: Bool {
        phase == .open && !isPaused && !peerDidEnd && !closesWhenDrained
    }

    /// Whether there is a reason to look for input without the kernel's word for it.
    ///
    /// A peer that is gone sends nothing more, so this comes to an end.
    var readsToTheEnd: Bool { reads && (isHungUp || failure != nil) }

    /// Whether the end of the input is the end that the peer meant.
    ///
    /// After a reset the kernel reports an end, too, but something may be missing before it. A peer
    /// that only takes no more (`EPIPE`) has ended properly.
    var isEndGenuine: Bool { failure.map { $0.code == .brokenPipe } ?? true }

    // MARK: Output

    /// Whether more may be sent, or queued.
    var accepts: Bool { sending == .open && failure == nil }

    /// Whether it may be sent right now.
    var sends: Bool {
        (phase == .open || phase == .connected) && sending != .ended && failure == nil
    }

    mutating func noteEnd(closing: Bool) {
        if sending == .open { sending = .ending }
        if closing { closesWhenDrained = true }
    }

    /// Whether the peer is to be told now that no more comes.
    func isToShutDown(_ queue: OutputQueue) -> Bool {
        sends && sending == .ending && queue.isEmpty
    }

    mutating func didShutDown() { sending = .ended }

    /// Whether what is queued is still to go out, or the peer still to be told that no more comes.
    var isFinishing: Bool { sending == .ending }

    // MARK: Both

    /// What the kernel is to be asked for.
    func wanted(_ queue: OutputQueue) -> Events {
        switch phase {
        case .inLine: return []
        case .connecting: return .writable
        case .connected, .open:
            var events: Events = reads ? .readable : []
            if !queue.isEmpty, sends { events.insert(.writable) }
            return events
        }
    }

    /// Whether nothing can come or go any more.
    var isOver: Bool { sending == .ended && (peerDidEnd || closesWhenDrained) }

    /// Whether there is something to do that the kernel does not tell.
    func isReady(_ queue: OutputQueue) -> Bool {
        // Sending to a peer that is gone finds out why.
        let sendsInVain = isHungUp && sends && !queue.isEmpty
        return phase != .open || isOver || failure != nil || readsToTheEnd || sendsInVain
    }
}
