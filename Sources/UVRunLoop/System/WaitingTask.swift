/// A suspended task, which is resumed exactly once.
///
/// The compiler cannot check that; a checked continuation would, but allocates memory for each
/// wait. The thread that takes this value out of the state that holds it resumes the task.
@safe
package struct WaitingTask<Value: Sendable>: Sendable {
    package let identity: TaskIdentity
    private let continuation: UnsafeContinuation<Value, Never>

    private init(_ identity: TaskIdentity, _ continuation: UnsafeContinuation<Value, Never>) {
        self.identity = identity
        unsafe self.continuation = continuation
    }

    /// Suspends the calling task until the value that the body gets is resumed.
    package static func suspend(
        _ identity: TaskIdentity = .current,
        isolation: isolated (any Actor)?,
        _ body: (WaitingTask) -> Void
    ) async -> Value {
        await unsafe withUnsafeContinuation { body(unsafe WaitingTask(identity, $0)) }
    }

    /// Resumes the task; the caller holds no lock.
    package func resume(returning value: Value) {
        unsafe continuation.resume(returning: value)
    }
}
