/// One thing that one task waits for; the first of several outcomes counts.
///
/// > Threading: Any thread.
package final class TaskWait<Value: Sendable>: Sendable {
    package typealias Outcome = Result<Value, any Error>

    private enum State {
        case unsettled
        case waiting(WaitingTask<Outcome>)
        case settled(Outcome)
        case over
    }

    private let state = Guarded(State.unsettled)

    package init() {}

    /// Whether there is an outcome.
    package var isSettled: Bool {
        state.withLock { state in
            switch state {
            case .unsettled, .waiting: false
            case .settled, .over: true
            }
        }
    }

    /// Ends the wait, unless it has ended.
    ///
    /// The caller holds no lock.
    ///
    /// - Returns: Whether this outcome counts.
    @discardableResult
    package func settle(_ outcome: Outcome) -> Bool { settle { outcome } }

    /// Ends the wait with what is taken from elsewhere, which is left there if the wait has ended.
    ///
    /// The caller holds no lock.
    ///
    /// - Parameter take: Takes the outcome, if there is one yet. It is called under the lock.
    /// - Returns: Whether an outcome was taken; it counts.
    package func settle(taking take: () -> Outcome?) -> Bool {
        let (outcome, waiting) = state.withLock { state -> (Outcome?, WaitingTask<Outcome>?) in
            switch state {
            case .unsettled:
                guard let outcome = take() else { return (nil, nil) }
                state = .settled(outcome)
                return (outcome, nil)
            case .waiting(let task):
                guard let outcome = take() else { return (nil, nil) }
                state = .over
                return (outcome, task)
            case .settled, .over: return (nil, nil)
            }
        }
        guard let outcome else { return false }
        waiting?.resume(returning: outcome)
        return true
    }

    /// Stores the task that waits, or resumes it; called once.
    fileprivate func begin(_ task: WaitingTask<Outcome>) {
        let outcome = state.withLock { state -> Outcome? in
            guard case .settled(let outcome) = state else {
                state = .waiting(task)
                return nil
            }
            state = .over
            return outcome
        }
        if let outcome { task.resume(returning: outcome) }
    }
}

/// Settles a wait, at the latest when it is released.
///
/// Only the handler that will settle the wait holds it. If the handler is released before, the loop
/// has ended, or the task was cancelled.
package final class WaitEnd<Value: Sendable>: Sendable {
    private let wait: TaskWait<Value>

    package init(_ wait: TaskWait<Value>) { self.wait = wait }

    package var isSettled: Bool { wait.isSettled }

    /// Ends the wait; returns whether this outcome counts.
    @discardableResult
    package func settle(_ outcome: TaskWait<Value>.Outcome) -> Bool { wait.settle(outcome) }

    /// Ends the wait with what is taken from elsewhere, as ``TaskWait/settle(taking:)`` does.
    func settle(taking take: () -> TaskWait<Value>.Outcome?) -> Bool { wait.settle(taking: take) }

    deinit { wait.settle(.failure(UVRunLoop.PerformError.threadEnded)) }
}

extension UVRunLoop {
    /// Waits for an outcome, in a task whose cancellation may come too late.
    ///
    /// - Parameters:
    ///   - wait: What to wait for.
    ///   - loop: The loop on whose thread a task resumes that waits there; `nil` if there is none.
    ///   - isolation: The caller's actor.
    ///   - end: Called on any thread when the task is cancelled. If it returns `true`, the wait ends
    ///     with `CancellationError`; otherwise somebody else ends it.
    /// - Returns: The value of the outcome.
    /// - Throws: The error of the outcome.
    static func outcome<Value: Sendable>(
        of wait: TaskWait<Value>,
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        endedByCancelling end: @Sendable () -> Bool
    ) async throws -> Value {
        try await suspend(on: loop, isolation: isolation) {
            wait.begin($0)
        } onCancel: { _ in
            if end() { wait.settle(.failure(CancellationError())) }
        }.get()
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
    /// - Throws: The error of the outcome. What cancels a task often ends the loop, too, and either
    ///   may come first: a cancelled task gets `CancellationError`.
    package static func outcome<Value: Sendable>(
        of wait: TaskWait<Value>,
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        onCancel cancel: @Sendable () -> Void
    ) async throws -> Value {
        do {
            return try await outcome(
                of: wait,
                on: loop,
                isolation: isolation,
                endedByCancelling: {
                    wait.settle(.failure(CancellationError()))
                    cancel()
                    return false
                }
            )
        } catch PerformError.threadEnded where Task.isCancelled {
            throw CancellationError()
        }
    }
}
