/// A suspended task, which is resumed exactly once.
///
/// The compiler cannot check that; a checked continuation would, but allocates memory for each wait.
/// Whoever takes this value out of the state that holds it resumes the task.
@safe
package struct WaitingTask<Value: Sendable, Failure: Error>: Sendable {
    private let continuation: UnsafeContinuation<Value, Failure>

    private init(_ continuation: UnsafeContinuation<Value, Failure>) {
        unsafe self.continuation = continuation
    }

    /// Resumes the task; the caller holds no lock.
    package func resume(with outcome: Result<Value, Failure>) {
        unsafe continuation.resume(with: outcome)
    }
}

extension WaitingTask where Failure == Never {
    /// Suspends the calling task until the value that the body gets is resumed.
    package static func suspend(
        isolation: isolated (any Actor)?,
        _ body: (WaitingTask) -> Void
    ) async -> Value {
        await unsafe withUnsafeContinuation { body(unsafe WaitingTask($0)) }
    }
}

extension WaitingTask where Failure == any Error {
    /// Suspends the calling task until the value that the body gets is resumed.
    ///
    /// - Throws: The error that it is resumed with.
    package static func suspend(
        isolation: isolated (any Actor)?,
        _ body: (WaitingTask) -> Void
    ) async throws -> Value {
        try await unsafe withUnsafeThrowingContinuation { body(unsafe WaitingTask($0)) }
    }
}
