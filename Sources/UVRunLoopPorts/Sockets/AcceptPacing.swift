import UVRunLoop

/// Decides when a listener accepts connections.
struct AcceptPacing: Sendable {
    typealias Instant = UVRunLoop.Instant

    /// How long accepting pauses after a shortage of descriptors or memory.
    static let pause = Duration.milliseconds(100)

    private enum State: Sendable {
        case accepting
        /// The limit of connections is reached.
        case full
        case short(until: Instant)
    }

    private var state = State.accepting

    var isAccepting: Bool {
        if case .accepting = state { true } else { false }
    }

    /// When to retry if no connection closes before.
    var retry: Instant? {
        if case .short(let date) = state { date } else { nil }
    }

    mutating func didFillUp() { state = .full }

    mutating func didRunShort(at now: Instant) { state = .short(until: now + Self.pause) }

    /// Called when the listener was announced: a connection closed, or the pause is over.
    mutating func resume() { state = .accepting }
}
