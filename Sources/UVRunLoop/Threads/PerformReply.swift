/// The result of a request that a thread waits for.
final class PerformReply<Value: Sendable>: PerformWaiter {
    typealias Body = @Sendable () throws -> Value
    typealias Outcome = Result<Value, any Error>

    /// The thread that changes it from waiting decides whether the body runs.
    private enum Stage {
        case waiting(Body)
        case begun
        case givenUp(UVRunLoop.PerformError)
    }

    private let stage: Guarded<Stage>
    private let result = ConditionGuarded<Outcome?>(nil)

    init(_ body: @escaping Body) { stage = Guarded(.waiting(body)) }

    /// Performs the request.
    func perform() {
        if let result = performOnce() { settle(result) }
    }

    /// The body and its captures are released before the waiting thread is woken.
    private func performOnce() -> Outcome? {
        guard case .waiting(let body) = leaveWaiting(for: .begun) else { return nil }
        return Result { try body() }
    }

    func giveUp(_ error: UVRunLoop.PerformError) {
        let former = leaveWaiting(for: .givenUp(error))
        settle(.failure(error))
        // Released last: a capture's end may take long.
        withExtendedLifetime(former) {}
    }

    /// Ends the wait at its limit.
    private func giveUpAtLimit() {
        let former = leaveWaiting(for: .givenUp(.timedOut(hasBegun: false)))
        switch former {
        case .waiting: settle(.failure(UVRunLoop.PerformError.timedOut(hasBegun: false)))
        case .begun: settle(.failure(UVRunLoop.PerformError.timedOut(hasBegun: true)))
        case .givenUp(let error): settle(.failure(error))
        }
    }

    /// Changes the stage of a request that waits; returns the stage before.
    private func leaveWaiting(for next: Stage) -> Stage {
        stage.withLock { stage in
            guard case .waiting = stage else { return stage }
            return exchange(&stage, with: next)
        }
    }

    private func settle(_ outcome: Outcome) {
        let isFirst = result.withLock { result in
            guard result == nil else { return false }
            result = outcome
            return true
        }
        if isFirst { result.wakeAll() }
    }

    /// Waits for the result.
    ///
    /// - Parameters:
    ///   - date: Until when, in nanoseconds of the monotonic clock.
    ///   - withdraw: Called if the date passes first, to take the request out of its queue.
    /// - Returns: What the body has returned.
    /// - Throws: The body's error, or why there is no result.
    func wait(until date: Int64, withdraw: () -> Void) throws -> Value {
        if let result = result.wait(until: date, for: \.self) { return try result.get() }
        withdraw()
        giveUpAtLimit()
        guard let result = result.withLock({ $0 }) else {
            fail("Bug in UVRunLoop: a wait ended without a result.")
        }
        return try result.get()
    }
}
