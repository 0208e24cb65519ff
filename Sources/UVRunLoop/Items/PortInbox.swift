import Synchronization

/// The senders' side of a port: a queue that the loop empties at once.
///
/// It shares no memory with the loop's thread that is written for every message, except a counter
/// that senders seldom read.
final class PortInbox: Sendable {
    typealias Message = UVRunLoop.PortMessage

    /// The result of posting a message.
    enum Outcome {
        /// Queued, and the loop has to be notified.
        case first
        /// Queued, and the loop was already notified.
        case announced
        case full
        /// The port is invalid.
        case refused
    }

    private struct State {
        var messages: [Message?] = []
        /// Tasks that wait for room.
        var tasks: [any RoomListener] = []
        /// The number of further messages for which there is certainly room.
        var room = 0
        var isAnnounced = false
        var isClosed = false

        /// Queues a message; returns `nil` if there is no room for it.
        mutating func queue(
            _ message: Message,
            _ capacity: Int,
            _ undelivered: Counter
        ) -> Outcome? {
            guard !isClosed else { return .refused }
            if room == 0 { room = freePlaces(capacity, undelivered) }
            guard room > 0 else { return nil }
            room -= 1
            messages.append(message)
            return exchange(&isAnnounced, with: true) ? .announced : .first
        }

        /// The number of further messages for which there is room now.
        func freePlaces(_ capacity: Int, _ undelivered: Counter) -> Int {
            capacity - messages.count - undelivered.value
        }

        /// Takes the tasks that have waited longest off the list.
        mutating func takeTasks(atMost count: Int) -> [any RoomListener] {
            let taken = Array(tasks.prefix(max(count, 0)))
            tasks.removeFirst(taken.count)
            return taken
        }
    }

    let capacity: Int
    private let state = ConditionGuarded(State())
    /// The number of tasks that wait or are about to, so that ``wakeSenders()`` without any senders
    /// takes no lock.
    private let taskCount = Atomic<Int>(0)
    /// How many of the messages that the loop took are not delivered yet.
    let undelivered: Counter

    /// A counter in memory of its own, written by one thread at a time.
    final class Counter: Sendable {
        private let number = Atomic<Int>(0)

        var value: Int {
            get { number.load(ordering: .acquiring) }
            set { number.store(newValue, ordering: .releasing) }
        }
    }

    init(capacity: Int) {
        self.capacity = capacity
        undelivered = Counter()
    }

    /// Queues a message, if there is room.
    func post(_ message: Message) -> Outcome {
        state.withLock { $0.queue(message, capacity, undelivered) } ?? .full
    }

    /// Queues a message as soon as there is room.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - date: Until when to wait for room, in nanoseconds of the monotonic clock.
    ///   - onlyThisThreadMakesRoom: Whether there can be no room while the thread waits; asked
    ///     under the lock before the thread waits, and again each time it is woken.
    /// - Returns: Whether it was queued.
    func post(
        _ message: Message,
        until date: Int64,
        unless onlyThisThreadMakesRoom: () -> Bool
    ) -> Outcome {
        let outcome = state.wait(until: date) { state in
            state.queue(message, capacity, undelivered) ?? (onlyThisThreadMakesRoom() ? .full : nil)
        }
        return outcome ?? .full
    }

    /// Queues a message, or stores a task that tries again when there may be room.
    func post(_ message: Message, orWake task: any RoomListener) -> Outcome {
        // As in ``ConditionGuarded``: counted before the check, so that room made after it is
        // announced.
        taskCount.add(1, ordering: .acquiringAndReleasing)
        let outcome = state.withLock { state -> Outcome? in
            let outcome = state.queue(message, capacity, undelivered)
            if outcome == nil { state.tasks.append(task) }
            return outcome
        }
        if outcome != nil { taskCount.subtract(1, ordering: .relaxed) }
        return outcome ?? .full
    }

    /// Removes a task that does not wait any longer.
    ///
    /// - Returns: `false` if it was about to be resumed.
    func forget(_ task: any RoomListener) -> Bool {
        let count = state.withLock { state in
            let count = state.tasks.count
            state.tasks.removeAll { $0 === task }
            return count - state.tasks.count
        }
        taskCount.subtract(count, ordering: .relaxed)
        return count > 0
    }

    var count: Int { state.withLock { $0.messages.count + undelivered.value } }

    /// Takes all messages, in exchange for an empty array.
    func takeAll(into messages: inout [Message?]) {
        state.withLock { state in
            swap(&state.messages, &messages)
            undelivered.value = messages.count
        }
    }

    /// Returns whether messages are queued; if not, the next one is announced.
    func hasMoreOrRearms() -> Bool {
        state.withLock { state in
            state.isAnnounced = !state.messages.isEmpty
            return state.isAnnounced
        }
    }

    /// Wakes as many blocked threads and as many waiting tasks as there is room for.
    ///
    /// With all of them, each message would cost as many switches as there are senders. Whoever is
    /// woken takes the room or passes it on: a thread tries before it looks at its limit, a task
    /// that is cancelled wakes the next one.
    ///
    /// - Parameter allThreads: Whether to wake all threads, which then check whether only they can
    ///   make room.
    func wakeSenders(allThreads: Bool = false) {
        guard state.hasWaiters || mayHoldTasks else { return }
        let (room, tasks) = state.withLock { state in
            let room = state.freePlaces(capacity, undelivered)
            return (room, state.takeTasks(atMost: room))
        }
        state.wake(atMost: allThreads ? .max : room)
        resume(tasks)
    }

    /// Wakes a task that waits, if there is one: there is room for one message more.
    ///
    /// It costs no more than the message: the task is taken off the list.
    func wakeTask() {
        guard mayHoldTasks else { return }
        resume(state.withLock { $0.takeTasks(atMost: 1) })
    }

    private var mayHoldTasks: Bool {
        taskCount.add(0, ordering: .acquiringAndReleasing).oldValue > 0
    }

    private func resume(_ tasks: [any RoomListener]) {
        taskCount.subtract(tasks.count, ordering: .relaxed)
        for task in tasks { task.roomMayBeThere() }
    }

    /// Closes the inbox; returns the queued messages, to be released.
    func close() -> [Message?] {
        let (dropped, tasks) = state.withLock { state in
            state.isClosed = true
            return (exchange(&state.messages, with: []), state.takeTasks(atMost: .max))
        }
        state.wakeAll()
        resume(tasks)
        return dropped
    }
}

/// A task that waits for room in a port's queue.
protocol RoomListener: AnyObject, Sendable {
    /// Called while no lock is held, when the task may try again.
    func roomMayBeThere()
}
