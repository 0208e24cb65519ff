import UVRunLoop

/// The target and deadline of a connection, and when to retry while the backlog is full.
struct ConnectionAttempt: Sendable {
    typealias Instant = UVRunLoop.Instant

    private static let maximumBackoff = Duration.milliseconds(64)
    /// How long to retry without a deadline: as long as the kernel tries a TCP connection.
    private static let maximumWait = Duration.seconds(127)

    let address: RawAddress
    private var deadline: Instant?
    private var backoff = Duration.milliseconds(1)
    private var retry: Instant?

    init(_ address: RawAddress, until deadline: Instant?) {
        self.address = address
        self.deadline = deadline
    }

    /// Schedules the next retry: the listener's backlog was full.
    mutating func didFindBacklogFull(at now: Instant) {
        deadline = deadline ?? now + Self.maximumWait
        retry = now + backoff
        backoff = min(backoff * 2, Self.maximumBackoff)
    }

    func isOverdue(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }

    /// The next time at which to act without an event from the kernel.
    func nextDate(isRetrying: Bool) -> Instant? {
        guard isRetrying, let retry else { return deadline }
        return min(retry, deadline ?? retry)
    }
}

/// Stores a value out of line, so that it takes no room in owners that seldom have one.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
