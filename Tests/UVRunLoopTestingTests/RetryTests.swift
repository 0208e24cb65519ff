import Testing
import UVRunLoop
import UVRunLoopTesting

@Suite(.timeLimit(.minutes(15))) struct RetryTests {
    private struct Unavailable: Error {}

    /// Logs when the attempts are made, of which the last one of a number succeeds.
    private func attempts(
        _ retry: Retry,
        succeedingAt last: Int = .max,
        seed: UInt64 = 0
    ) async throws -> UVRunLoop.EventLog {
        let clock = UVRunLoop.VirtualClock()
        let log = UVRunLoop.EventLog(timedBy: clock)
        try await UVRunLoop.withVirtualThread(clock: clock) { loop in
            var numbers = UVRunLoop.SeededGenerator(seed: seed)
            do {
                try await retry.perform(on: loop, numbers: &numbers) { attempt in
                    log.note("attempt \(attempt)")
                    if attempt < last { throw Unavailable() }
                }
                log.note("answer")
            } catch {
                log.note("\(error)")
            }
        }
        return log
    }

    @Test func pausesDoubleUpToTheLongest() async throws {
        let log = try await attempts(Retry(jitter: 0))
        let expected = [
            "0 s: attempt 1", "1 s: attempt 2", "3 s: attempt 3", "7 s: attempt 4",
            "15 s: attempt 5", "25 s: attempt 6", "25 s: Unavailable()",
        ]
        #expect(log.difference(from: expected) == nil)
    }

    @Test func nothingIsRepeatedAfterAnAnswer() async throws {
        let log = try await attempts(Retry(jitter: 0), succeedingAt: 2)
        #expect(log.difference(from: ["0 s: attempt 1", "1 s: attempt 2", "1 s: answer"]) == nil)
    }

    @Test func chanceShortensPausesByHalfAtMost() async throws {
        let one = try await attempts(Retry(), seed: 1)
        let same = try await attempts(Retry(), seed: 1)
        let other = try await attempts(Retry(), seed: 2)
        #expect(one.difference(from: same.entries) == nil)
        #expect(one.difference(from: other.entries) != nil)

        let clock = UVRunLoop.VirtualClock()
        let elapsed = try await UVRunLoop.withVirtualThread(clock: clock) { loop in
            var numbers = UVRunLoop.SeededGenerator(seed: 3)
            try? await Retry(attempts: 1_000).perform(on: loop, numbers: &numbers) { _ in
                throw Unavailable()
            }
            return clock.elapsed
        }
        // Almost three hours.
        #expect((.seconds(4_982.5)...(.seconds(9_965))).contains(elapsed))
    }

    @Test func aCancelledRetryGivesUpAtOnce() async throws {
        let clock = UVRunLoop.VirtualClock()
        try await UVRunLoop.withVirtualThread(clock: clock) { loop in
            let retry = Task(executorPreference: loop.taskExecutor) {
                var numbers = UVRunLoop.SeededGenerator(seed: 0)
                try await Retry(jitter: 0).perform(on: loop, numbers: &numbers) { _ in
                    throw Unavailable()
                }
            }
            try await loop.sleep(for: .milliseconds(4_500))
            retry.cancel()
            await #expect(throws: CancellationError.self) { try await retry.value }
            #expect(clock.elapsed == .milliseconds(4_500))
        }
    }
}
