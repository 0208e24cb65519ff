import Synchronization

/// Tells one wait of a task from all others of the process.
package struct WaitNumber: Equatable, Sendable {
    // All threads share it, which a wait does not notice: it takes thousands of instructions. The
    // hash of the task itself would take a thousand more.
    private static let latest = Atomic<UInt64>(0)

    private let value: UInt64

    static func next() -> WaitNumber {
        WaitNumber(value: latest.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}

/// A suspended task, which is resumed exactly once.
///
/// The compiler cannot check that; a checked continuation would, but allocates memory for each
/// wait. The thread that takes this value out of the state that holds it resumes the task.
@safe
package struct WaitingTask<Value: Sendable>: Sendable {
    package let wait: WaitNumber
    private let continuation: UnsafeContinuation<Value, Never>

    private init(_ wait: WaitNumber, _ continuation: UnsafeContinuation<Value, Never>) {
        self.wait = wait
        unsafe self.continuation = continuation
    }

    /// Suspends the calling task until the value that the body gets is resumed.
    package static func suspend(
        _ wait: WaitNumber = .next(),
        isolation: isolated (any Actor)?,
        _ body: (WaitingTask) -> Void
    ) async -> Value {
        await unsafe withUnsafeContinuation { body(unsafe WaitingTask(wait, $0)) }
    }

    /// Resumes the task; the caller holds no lock.
    package func resume(returning value: Value) {
        unsafe continuation.resume(returning: value)
    }
}
