import UVRunLoop
import UVRunLoopPorts

/// A limit has passed.
struct LimitPassed: Error, CustomStringConvertible {
    let description = "the time limit has passed"
}

extension UVRunLoop {
    /// Waits for a function, or cancels it at the end of a limit and throws ``LimitPassed``.
    func withLimit<Value: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup { group in
            group.addTask(operation: body)
            group.addTask {
                try await self.sleep(for: limit)
                throw LimitPassed()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

extension UVRunLoop.SocketPort {
    /// Waits for the next bytes, and before that until the peer has read most of what was sent.
    ///
    /// - Returns: The bytes; `nil` when the peer has ended sending.
    func nextBytes(in loop: UVRunLoop, within limit: Duration) async throws -> [UInt8]? {
        try await loop.withLimit(limit) {
            try await self.drained()
            return try await self.bytes.first { _ in true }
        }
    }
}
