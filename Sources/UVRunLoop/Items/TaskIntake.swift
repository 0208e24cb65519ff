/// The elements of a source for one task: at most one that nobody waited for, the task that waits,
/// and the end.
///
/// A value behind the lock of its owner. The owner pauses its source while the intake is full, or
/// merges what nobody waits for.
package struct TaskIntake<Element: Sendable, Failure: Error>: Sendable {
    package typealias Outcome = Result<Element?, Failure>
    package typealias Waiter = WaitingTask<Outcome>

    /// A task to resume, while no lock is held.
    package struct Resumption: Sendable {
        fileprivate let task: Waiter
        fileprivate let outcome: Outcome

        package func perform() { task.resume(returning: outcome) }
    }

    private var kept: Element?
    private var waiting: Waiter?
    /// The end, once it is reached; an error is given to one wait.
    private var end: Outcome?

    package init() {}

    /// Whether an element is kept that nobody took.
    package var isFull: Bool { kept != nil }

    /// Whether a task waits.
    package var isWaiting: Bool { waiting != nil }

    /// Whether the end was reached; an element may be kept nevertheless.
    package var isFinished: Bool { end != nil }

    // MARK: The source

    /// Gives an element to the task that waits, or keeps it; after the end it is ignored.
    ///
    /// The caller keeps a reference until it has released the lock.
    ///
    /// - Parameters:
    ///   - element: The element.
    ///   - merge: Makes one element of the one that is kept and the new one. Without it, an element
    ///     must not be offered while the intake is full.
    /// - Returns: The task to resume, if one waited.
    package mutating func offer(
        _ element: Element,
        merging merge: (Element, Element) -> Element = { $1 }
    ) -> Resumption? {
        guard end == nil else { return nil }
        guard let task = waiting.take() else {
            kept = kept.map { merge($0, element) } ?? element
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

    /// Ends the sequence, and drops an element that is kept.
    ///
    /// - Returns: The task to resume, if one waited, and what was dropped, to be released without
    ///   the lock.
    package mutating func endAtOnce() -> (resumption: Resumption?, dropped: Element?) {
        (finish(), kept.take())
    }

    // MARK: The task

    /// Takes what is there: the element, or the end.
    package mutating func take() -> Outcome? {
        if let element = kept.take() { return .success(element) }
        guard let end else { return nil }
        self.end = .success(nil)
        return end
    }

    /// Stores the calling task, which waits, unless there is something for it.
    ///
    /// One that was cancelled gets the end, and is no consumer any more: another may wait already.
    package mutating func begin(_ task: Waiter) -> Resumption? {
        if Task.isCancelled { return Resumption(task: task, outcome: .success(nil)) }
        if let outcome = take() { return Resumption(task: task, outcome: outcome) }
        require(
            waiting == nil,
            "Two tasks wait for the same sequence. A sequence has one consumer."
        )
        waiting = task
        return nil
    }

    /// Ends a wait whose task was cancelled, unless it has its element, and another waits.
    package mutating func cancel(_ wait: WaitNumber) -> Resumption? {
        guard waiting?.wait == wait else { return nil }
        return waiting.take().map { Resumption(task: $0, outcome: .success(nil)) }
    }
}
