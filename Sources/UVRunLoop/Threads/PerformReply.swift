/// The result of a request that a thread waits for.
final class PerformReply<Value: Sendable>: PerformWaiter {
    typealias Body = @Sendable () throws -> Value
    typealias Outcome = Result<Value, any Error>

    private let body: Guarded<Body?>
    private let result = ConditionGuarded<Outcome?>(nil)

    init(_ body: @escaping Body) { self.body = Guarded(body) }

    /// Performs the request.
    func perform() {
        if let result = performOnce() { settle(result) }
    }

    /// The body and its captures are released before the waiting thread is woken.
    private func performOnce() -> Outcome? {
        guard let body = takeBody() else { return nil }
        return Result { try body() }
    }

    func giveUp(_ error: UVRunLoop.PerformError) {
        _ = takeBody()
        settle(.failure(error))
    }

    /// Ends the wait at its limit: whoever takes the body decides whether it runs.
    private func giveUpAtLimit() {
        let hasBegun = takeBody() == nil
        settle(.failure(UVRunLoop.PerformError.timedOut(hasBegun: hasBegun)))
    }

    private func takeBody() -> Body? { body.withLock { exchange(&$0, with: nil) } }

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
