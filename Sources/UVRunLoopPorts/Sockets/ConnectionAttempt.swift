import UVRunLoop

/// Where a connection goes, until when, and when to ask a full listener again.
struct ConnectionAttempt: Sendable {
    typealias Instant = UVRunLoop.Instant

    private static let longestPause = Duration.milliseconds(64)

    let address: RawAddress
    private let deadline: Instant?
    private var pause = Duration.milliseconds(1)
    private var retry: Instant?

    init(_ address: RawAddress, until deadline: Instant?) {
        self.address = address
        self.deadline = deadline
    }

    /// The listener's line was still full.
    mutating func didTry(at now: Instant) {
        retry = now + pause
        pause = min(pause * 2, Self.longestPause)
    }

    func isLate(at now: Instant) -> Bool { deadline.map { $0 <= now } ?? false }

    /// When there is something to do that the kernel does not tell.
    func nextLook(isInLine: Bool) -> Instant? {
        guard isInLine, let retry else { return deadline }
        return min(retry, deadline ?? retry)
    }
}

/// Keeps elsewhere what most owners do not have, so that it takes no room in them.
final class Kept<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
