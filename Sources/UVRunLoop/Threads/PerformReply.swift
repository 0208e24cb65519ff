/// The result of a request that a thread waits for.
final class PerformReply<Value: Sendable>: PerformWaiter {
    typealias Body = @Sendable () throws -> Value

    private let body: Guarded<Body?>
    private let result = Guarded<Result<Value, any Error>?>(nil)
    private let isThere = Latch()

    init(_ body: @escaping Body) { self.body = Guarded(body) }

    /// Performs the request.
    func perform() {
        if let result = performOnce() { settle(result) }
    }

    /// The body and its captures are released before the waiting thread is woken.
    private func performOnce() -> Result<Value, any Error>? {
        guard let body = takeBody() else { return nil }
        return Result { try body() }
    }

    func giveUp(_ error: UVRunLoop.PerformError) {
        _ = takeBody()
        settle(.failure(error))
    }

    private func takeBody() -> Body? { body.withLock { exchange(&$0, with: nil) } }

    private func settle(_ outcome: Result<Value, any Error>) {
        let isFirst = result.withLock { result in
            guard result == nil else { return false }
            result = outcome
            return true
        }
        if isFirst { isThere.open() }
    }

    /// Waits for the result.
    func wait() throws -> Value {
        isThere.wait()
        guard let result = result.withLock({ $0 }) else {
            fail("Bug in UVRunLoop: a wait ended without a result.")
        }
        return try result.get()
    }
}
