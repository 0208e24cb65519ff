/// A suspended task, which is resumed exactly once.
///
/// The compiler cannot check that; a checked continuation would, but allocates memory for each wait.
/// Whoever takes this value out of the state that holds it resumes the task.
@safe
package struct WaitingTask<Value: Sendable, Failure: Error>: Sendable {
    private let continuation: UnsafeContinuation<Value, Failure>

    init(_ continuation: UnsafeContinuation<Value, Failure>) {
        unsafe self.continuation = continuation
    }

    /// Resumes the task; the caller holds no lock.
    package func resume(with outcome: Result<Value, Failure>) {
        unsafe continuation.resume(with: outcome)
    }
}
