/// What one task takes from a port: at most one element that nobody waited for, the task that
/// waits, and the end.
///
/// A value behind the lock of its owner, which pauses its source while the intake is full.
package struct TaskIntake<Element: Sendable, Failure: Error>: Sendable {
    package typealias Outcome = Result<Element?, Failure>
    package typealias Waiter = WaitingTask<Outcome, Never>

    /// A task to resume, while no lock is held.
    package struct Resumption: Sendable {
        fileprivate let task: Waiter
        fileprivate let outcome: Outcome

        package func perform() { task.resume(with: .success(outcome)) }
    }

    private var kept: Element?
    private var waiting: Waiter?
    /// The end, once it is reached; an error is given to one wait.
    private var end: Outcome?

    package init() {}

    /// Whether an element is kept that nobody took.
    package var isFull: Bool { kept != nil }

    // MARK: The port

    /// Gives an element to the task that waits, or keeps it; after the end it is ignored.
    ///
    /// The caller keeps a reference until it has released the lock.
    package mutating func offer(_ element: Element) -> Resumption? {
        guard end == nil else { return nil }
        guard let task = waiting.take() else {
            kept = element
            return nil
        }
        return Resumption(task: task, outcome: .success(element))
    }

    /// Ends the sequence, unless it has ended; an element that is kept is still given out.
    package mutating func finish(throwing failure: Failure? = nil) -> Resumption? {
        guard end == nil else { return nil }
        let outcome: Outcome = failure.map { .failure($0) } ?? .success(nil)
        guard let task = waiting.take() else {
            end = outcome
            return nil
        }
        end = .success(nil)
        return Resumption(task: task, outcome: outcome)
    }

    /// Takes the element that is kept, to be released without the lock.
    package mutating func takeKept() -> Element? { kept.take() }

    // MARK: The task

    /// Takes what is there: the element, or the end.
    package mutating func take() -> Outcome? {
        if let element = kept.take() { return .success(element) }
        guard let end else { return nil }
        self.end = .success(nil)
        return end
    }

    /// Stores a task that waits, unless there is something for it.
    package mutating func begin(_ task: Waiter) -> Resumption? {
        if let outcome = take() { return Resumption(task: task, outcome: outcome) }
        require(
            waiting == nil,
            "Two tasks wait for the same sequence. A sequence has one consumer."
        )
        waiting = task
        return nil
    }

    /// Ends the wait of a task that was cancelled.
    package mutating func cancel() -> Resumption? {
        waiting.take().map { Resumption(task: $0, outcome: .success(nil)) }
    }
}

extension UVRunLoop {
    /// Suspends the calling task until it is resumed.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread a task resumes that waits there; `nil` if there is none.
    ///   - isolation: The caller's actor.
    ///   - begin: Stores the task, which is to be resumed exactly once.
    ///   - cancel: Called when the task is cancelled, also before `begin`; then again after it.
    /// - Returns: The value that the task was resumed with.
    package static func suspend<Value: Sendable>(
        on loop: UVRunLoop?,
        isolation: isolated (any Actor)?,
        _ begin: (WaitingTask<Value, Never>) -> Void,
        onCancel cancel: @Sendable () -> Void
    ) async -> Value {
        guard let loop else { return await suspend(isolation: isolation, begin, cancel) }
        return await loop.resumingHere(isolation: isolation) {
            _ = isolation
            return await suspend(isolation: isolation, begin, cancel)
        }
    }

    private static func suspend<Value: Sendable>(
        isolation: isolated (any Actor)?,
        _ begin: (WaitingTask<Value, Never>) -> Void,
        _ cancel: @Sendable () -> Void
    ) async -> Value {
        await withTaskCancellationHandler {
            _ = isolation
            return await WaitingTask.suspend(isolation: isolation) { task in
                begin(task)
                if Task.isCancelled { cancel() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// The calling thread's loop, if it is performing a job; `nil` otherwise.
    package static var performingJob: UVRunLoop? {
        ThreadRecord.withCurrentLoop { loop in
            guard let loop, loop.local.withValue(\.runningJob) != 0 else { return nil }
            return loop
        }
    }
}
