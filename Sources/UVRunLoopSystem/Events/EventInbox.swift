import UVRunLoop

/// The events of a source, from libuv's callbacks to its handler or the task that takes them.
///
/// > Threading: Any thread.
final class EventInbox<Event: Sendable>: Sendable {
    private typealias Intake = TaskIntake<Event, Never>

    private struct State {
        var events: [Event] = []
        /// Whether a task takes the events instead of the handler.
        var isTakenByTask = false
        /// The task that waits; the intake itself keeps no event.
        var intake = Intake()
        /// Whether the source ends when all events are taken.
        var hasLast = false
    }

    private let state = Guarded(State())
    private let willTake: @Sendable (Event) -> Void

    /// Creates an inbox.
    ///
    /// - Parameter willTake: Called under the lock with each event that the handler or the task
    ///   gets; not with those that are dropped.
    init(willTake: @escaping @Sendable (Event) -> Void = { _ in }) { self.willTake = willTake }

    private func takeFirst(of state: inout State) -> Event? {
        guard !state.events.isEmpty else { return nil }
        let event = state.events.removeFirst()
        willTake(event)
        return event
    }

    /// Gives the first event to the task that waits, if there are both.
    private func giveFirst(of state: inout State) -> Intake.Resumption? {
        guard state.intake.isWaiting, let event = takeFirst(of: &state) else { return nil }
        return state.intake.offer(event)
    }

    var count: Int { state.withLock { $0.events.count } }

    func count(where condition: (Event) -> Bool) -> Int {
        state.withLock { $0.events.count(where: condition) }
    }

    var isTakenByTask: Bool { state.withLock(\.isTakenByTask) }

    // MARK: libuv's callbacks

    /// Adds an event, unless the source is invalid.
    func append(_ event: Event) { change { $0.append(event) } }

    /// Changes the waiting events, unless the source is invalid; the body calls no user code.
    ///
    /// - Parameters:
    ///   - isLast: Whether the source ends when all are taken.
    ///   - body: The change.
    func change(isLast: Bool = false, _ body: (inout [Event]) -> Void) {
        state.withLock { state in
            guard !state.intake.isFinished else { return }
            body(&state.events)
            if isLast { state.hasLast = true }
        }
    }

    /// Whether all events of a source that ends were taken.
    var isAtEnd: Bool { state.withLock { $0.hasLast && $0.events.isEmpty } }

    // MARK: The loop

    /// Takes the event that is to be handled next, for the handler; `nil` once a task takes them.
    func take() -> Event? {
        state.withLock { $0.isTakenByTask ? nil : takeFirst(of: &$0) }
    }

    /// Gives an event to the task that waits.
    ///
    /// - Returns: Whether there was one.
    func giveToTask() -> Bool {
        let resumption = state.withLock { giveFirst(of: &$0) }
        resumption?.perform()
        return resumption != nil
    }

    /// Whether the loop has an event to serve: one that the handler or a waiting task can get.
    var canBeServed: Bool {
        state.withLock { !$0.events.isEmpty && (!$0.isTakenByTask || $0.intake.isWaiting) }
    }

    /// Whether an event is left for a task, and none waits for it.
    var holdsUntaken: Bool {
        state.withLock { !$0.events.isEmpty && $0.isTakenByTask && !$0.intake.isWaiting }
    }

    /// Drops the events that wait, and takes no more.
    ///
    /// - Returns: A function that ends the sequence and releases the dropped events; to be called
    ///   without a lock.
    func close() -> () -> Void {
        let (dropped, resumption) = state.withLock { state in
            (exchange(&state.events, with: []), state.intake.finish())
        }
        return {
            resumption?.perform()
            withExtendedLifetime(dropped) {}
        }
    }

    // MARK: A task

    /// Has a task take the events from now on.
    func beginTaking() { state.withLock { $0.isTakenByTask = true } }

    /// Stores a task that waits, unless there is something for it.
    private func begin(_ task: Intake.Waiter) -> Intake.Resumption? {
        state.withLock { $0.intake.begin(task) ?? giveFirst(of: &$0) }
    }

    /// Waits for an event; returns `nil` at the end, or if the task was cancelled.
    func next(on loop: UVRunLoop?, isolation: isolated (any Actor)?) async -> Event? {
        if Task.isCancelled { return nil }
        let outcome: Intake.Outcome = await UVRunLoop.suspend(on: loop, isolation: isolation) {
            begin($0)?.perform()
        } onCancel: { wait in
            state.withLock { $0.intake.cancel(wait) }?.perform()
        }
        return outcome.get()
    }
}
