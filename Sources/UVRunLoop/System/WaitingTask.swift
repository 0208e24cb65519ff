/// A suspended task, which is resumed exactly once.
///
/// The compiler cannot check that; a checked continuation would, but allocates memory for each
/// wait. The thread that takes this value out of the state that holds it resumes the task.
@safe
package struct WaitingTask<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, Never>

    private init(_ continuation: UnsafeContinuation<Value, Never>) {
        unsafe self.continuation = continuation
    }

    /// Suspends the calling task until the value that the body gets is resumed.
    package static func suspend(
        isolation: isolated (any Actor)?,
        _ body: (WaitingTask) -> Void
    ) async -> Value {
        await unsafe withUnsafeContinuation { body(unsafe WaitingTask($0)) }
    }

    /// Resumes the task; the caller holds no lock.
    package func resume(returning value: Value) {
        unsafe continuation.resume(returning: value)
    }
}
