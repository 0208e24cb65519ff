/// The result of a request that a thread waits for.
final class PerformReply<Value: Sendable>: PerformWaiter {
    typealias Body = @Sendable () throws -> Value
    typealias Outcome = Result<Value, any Error>

    /// The first thread to change it from waiting decides whether the body runs, and the first
    /// outcome counts.
    private enum Stage {
        case waiting(Body)
        case begun
        case settled(Outcome)

        var hasBegun: Bool { if case .begun = self { true } else { false } }
        var outcome: Outcome? { if case .settled(let outcome) = self { outcome } else { nil } }
    }

    private let stage: ConditionGuarded<Stage>

    init(_ body: @escaping Body) { stage = ConditionGuarded(.waiting(body)) }

    /// Performs the request.
    func perform() {
        if let outcome = performOnce() { settle { _ in outcome } }
    }

    /// The body and its captures are released before the waiting thread is woken.
    private func performOnce() -> Outcome? {
        let former = stage.withLock { stage -> Stage in
            guard case .waiting = stage else { return stage }
            return exchange(&stage, with: .begun)
        }
        guard case .waiting(let body) = former else { return nil }
        return Result { try body() }
    }

    func giveUp(_ error: UVRunLoop.PerformError) { settle { _ in .failure(error) } }

    /// Ends the wait, unless it has ended.
    private func settle(_ outcome: (Stage) -> Outcome) {
        let former = stage.withLock { stage -> Stage? in
            if case .settled = stage { return nil }
            return exchange(&stage, with: .settled(outcome(stage)))
        }
        if former != nil { stage.wakeAll() }
        // Released last: a capture's end may take long.
        withExtendedLifetime(former) {}
    }

    /// Waits for the result.
    ///
    /// - Parameters:
    ///   - date: Until when, in nanoseconds of the monotonic clock.
    ///   - withdraw: Called if the date passes first, to take the request out of its queue.
    /// - Returns: What the body has returned.
    /// - Throws: The body's error, or why there is no result.
    func wait(until date: Int64, withdraw: () -> Void) throws -> Value {
        // No key paths: the runtime makes those of a generic type under a lock, which a fork may
        // leave held.
        if let outcome = stage.wait(until: date, for: { $0.outcome }) { return try outcome.get() }
        withdraw()
        settle { .failure(UVRunLoop.PerformError.timedOut(hasBegun: $0.hasBegun)) }
        guard let outcome = stage.withLock({ $0.outcome }) else {
            fail("Bug in UVRunLoop: a wait ended without an outcome.")
        }
        return try outcome.get()
    }
}
