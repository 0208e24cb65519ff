import UVRunLoop

/// Decides when a listener accepts.
struct AcceptPacing: Sendable {
    typealias Instant = UVRunLoop.Instant

    /// How long a shortage of descriptors or memory is left to pass.
    static let pause = Duration.milliseconds(100)

    private enum State: Sendable {
        case accepting
        /// There are as many connections as there may be.
        case full
        case short(until: Instant)
    }

    private var state = State.accepting

    var isAccepting: Bool {
        if case .accepting = state { true } else { false }
    }

    /// When to try again, though no connection was closed.
    var retry: Instant? {
        if case .short(let date) = state { date } else { nil }
    }

    mutating func didFillUp() { state = .full }

    mutating func didRunShort(at now: Instant) { state = .short(until: now + Self.pause) }

    /// The listener was announced: a connection closed, or the pause is over.
    mutating func resume() { state = .accepting }
}
