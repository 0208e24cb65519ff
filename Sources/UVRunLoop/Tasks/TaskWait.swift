/// One thing that one task waits for; the first of several outcomes counts.
///
/// > Threading: Any thread.
package final class TaskWait<Value: Sendable>: Sendable {
    private enum State {
        case unsettled
        case waiting(WaitingTask<Value, any Error>)
        case settled(Result<Value, any Error>)
        case over
    }

    private let state = Guarded(State.unsettled)

    package init() {}

    /// Ends the wait, unless it has ended.
    ///
    /// The caller holds no lock.
    package func settle(_ outcome: Result<Value, any Error>) {
        let waiting = state.withLock { state -> WaitingTask<Value, any Error>? in
            switch state {
            case .unsettled: state = .settled(outcome)
            case .waiting(let task):
                state = .over
                return task
            case .settled, .over: break
            }
            return nil
        }
        waiting?.resume(with: outcome)
    }

    /// Waits for the outcome; called once.
    fileprivate func value(isolation: isolated (any Actor)?) async throws -> Value {
        try await WaitingTask.suspend(isolation: isolation) { begin($0) }
    }

    private func begin(_ task: WaitingTask<Value, any Error>) {
        let outcome = state.withLock { state -> Result<Value, any Error>? in
            guard case .settled(let outcome) = state else {
                state = .waiting(task)
                return nil
            }
            state = .over
            return outcome
        }
        if let outcome { task.resume(with: outcome) }
    }
}

extension UVRunLoop {
    /// Waits for an outcome, in a task that may be cancelled.
    ///
    /// - Parameters:
    ///   - wait: What to wait for.
    ///   - isolation: The caller's actor.
    ///   - cancel: Called on any thread when the task is cancelled; the wait then ends with
    ///     `CancellationError`.
    /// - Returns: The value of the outcome.
    /// - Throws: The error of the outcome.
    func outcome<Value: Sendable>(
        of wait: TaskWait<Value>,
        isolation: isolated (any Actor)?,
        onCancel cancel: @Sendable () -> Void
    ) async throws -> Value {
        try await Self.outcome(of: wait, on: self, isolation: isolation, onCancel: cancel)
    }

    /// Waits for an outcome, in a task that may be cancelled.
    ///
    /// - Parameters:
    ///   - wait: What to wait for.
    ///   - loop: The loop on whose thread a task resumes that waits there; `nil` if there is none.
    ///   - isolation: The caller's actor.
    ///   - cancel: Called on any thread when the task is cancelled; the wait then ends with
    ///     `CancellationError`.
    /// - Returns: The value of the outcome.
    /// - Throws: The error of the outcome.
    package static func outcome<Value: Sendable>(
        of wait: TaskWait<Value>,
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        onCancel cancel: @Sendable () -> Void
    ) async throws -> Value {
        guard let loop else { return try await value(of: wait, isolation: isolation, cancel) }
        return try await loop.resumingHere(isolation: isolation) {
            try await value(of: wait, isolation: isolation, cancel)
        }
    }

    private static func value<Value: Sendable>(
        of wait: TaskWait<Value>,
        isolation: isolated (any Actor)?,
        _ cancel: @Sendable () -> Void
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            _ = isolation
            return try await wait.value(isolation: isolation)
        } onCancel: {
            wait.settle(.failure(CancellationError()))
            cancel()
        }
    }

    /// Has a task that waits on the loop's thread resume there.
    ///
    /// Without a preference for the loop, a resumed task first goes to the runtime's thread pool,
    /// although its actor is on the loop; that takes ten times as long.
    func resumingHere<Value, Failure: Error>(
        isolation: isolated (any Actor)?,
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // Asking the runtime for the task's preference would take 600 instructions.
        let prefersLoop = local.withValueIfHere { $0.isInJob && $0.runningContext != .actor }
        guard prefersLoop == false else { return try await body() }
        return try await withTaskExecutorPreference(taskExecutorObject, operation: body)
    }
}
