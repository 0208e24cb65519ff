import UVRunLoop

/// Repeats a request that fails, after pauses that grow up to a limit.
struct Retry: Sendable {
    var attempts = 6
    var firstPause = Duration.seconds(1)
    var longestPause = Duration.seconds(10)
    /// The part of each pause that is left to chance, so that clients do not all return at once.
    var jitter = 0.5

    func perform<Answer, Numbers: RandomNumberGenerator>(
        on loop: UVRunLoop,
        numbers: inout Numbers,
        _ request: (Int) async throws -> Answer
    ) async throws -> Answer {
        var pause = firstPause
        for attempt in 1..<attempts {
            do {
                return try await request(attempt)
            } catch let error as CancellationError {
                throw error
            } catch {
                let part = Double.random(in: 1 - jitter...1, using: &numbers)
                try await loop.sleep(for: pause * part)
                pause = min(pause * 2, longestPause)
            }
        }
        return try await request(attempts)
    }
}
