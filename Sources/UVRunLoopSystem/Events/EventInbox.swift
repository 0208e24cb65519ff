import UVRunLoop

/// The events of a source, from libuv's callbacks to its handler or the task that takes them.
///
/// > Threading: Any thread.
final class EventInbox<Event: Sendable>: Sendable {
    typealias Waiter = WaitingTask<Event?>

    private struct State {
        var events: [Event] = []
        var isClosed = false
        /// Whether a task takes the events instead of the handler.
        var isTakenByTask = false
        var waiter: Waiter?
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

    var count: Int { state.withLock { $0.events.count } }

    func count(where condition: (Event) -> Bool) -> Int {
        state.withLock { $0.events.count(where: condition) }
    }

    var isTakenByTask: Bool { state.withLock(\.isTakenByTask) }

    // MARK: libuv's callbacks

    /// Adds an event, unless the source is invalid.
    func append(_ event: Event) { change { $0.append(event) } }

    /// Changes the waiting events, unless the source is invalid; the body calls no user code.
    func change(_ body: (inout [Event]) -> Void) {
        state.withLock { state in
            if !state.isClosed { body(&state.events) }
        }
    }

    // MARK: The loop

    /// Takes the event that is to be handled next, for the handler; `nil` once a task takes them.
    func take() -> Event? {
        state.withLock { $0.isTakenByTask ? nil : takeFirst(of: &$0) }
    }

    /// Gives an event to the task that waits.
    ///
    /// - Returns: Whether there was one.
    func giveToTask() -> Bool {
        let given = state.withLock { state -> (Waiter, Event)? in
            guard !state.events.isEmpty, let waiter = state.waiter.take() else { return nil }
            return takeFirst(of: &state).map { (waiter, $0) }
        }
        guard let (waiter, event) = given else { return false }
        waiter.resume(returning: event)
        return true
    }

    /// Whether the loop has an event to serve: one that the handler or a waiting task can get.
    var canBeServed: Bool {
        state.withLock { !$0.events.isEmpty && (!$0.isTakenByTask || $0.waiter != nil) }
    }

    /// Whether an event is left for a task, and none waits for it.
    var holdsUntaken: Bool {
        state.withLock { !$0.events.isEmpty && $0.isTakenByTask && $0.waiter == nil }
    }

    /// Ends the sequence, drops the events that wait, and takes no more.
    func close() {
        let (dropped, waiter) = state.withLock { state -> ([Event], Waiter?) in
            state.isClosed = true
            return (exchange(&state.events, with: []), state.waiter.take())
        }
        waiter?.resume(returning: nil)
        withExtendedLifetime(dropped) {}
    }

    // MARK: A task

    /// Has a task take the events from now on.
    func beginTaking() { state.withLock { $0.isTakenByTask = true } }

    /// Stores a task that waits; returns what it gets if there is no need to wait.
    private func begin(_ waiter: Waiter) -> Event?? {
        state.withLock { state -> Event?? in
            if let event = takeFirst(of: &state) { return .some(event) }
            if state.isClosed { return .some(nil) }
            require(
                state.waiter == nil,
                "Two tasks wait for the same sequence. A sequence has one consumer."
            )
            state.waiter = waiter
            return nil
        }
    }

    private func cancelWait() {
        let waiter = state.withLock { $0.waiter.take() }
        waiter?.resume(returning: nil)
    }

    /// Waits for an event; returns `nil` at the end, or if the task was cancelled.
    func next(on loop: UVRunLoop?, isolation: isolated (any Actor)?) async -> Event? {
        if let event = take() { return event }
        return await UVRunLoop.suspend(on: loop, isolation: isolation) { (waiter: Waiter) in
            if let result = begin(waiter) { waiter.resume(returning: result) }
        } onCancel: {
            cancelWait()
        }
    }
}
