import Synchronization

/// The senders' side of a port: a queue that the loop empties at once.
///
/// It shares no memory with the loop's thread that is written for every message, except a counter
/// that senders seldom read, and the count of those that wait: the loop's thread reads it by an
/// atomic addition of zero, so that the read comes after its own writes.
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
        var senders = SenderQueue()
        /// The senders of processes that forked this one, which are not in it; kept, because what
        /// they hold is the parent's.
        var inherited: [SenderQueue] = []
        /// The number of the sender that looks for room by itself.
        var lookout: Int?
        /// The number of further messages for which there is certainly room; none while senders
        /// wait, who come first.
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
            if room == 0, senders.isEmpty { room = freePlaces(capacity, undelivered) }
            guard room > 0 else { return nil }
            room -= 1
            messages.append(message)
            return exchange(&isAnnounced, with: true) ? .announced : .first
        }

        mutating func hasMoreOrRearms() -> Bool {
            isAnnounced = !messages.isEmpty
            return isAnnounced
        }

        /// The number of further messages for which there is room now.
        func freePlaces(_ capacity: Int, _ undelivered: Counter) -> Int {
            capacity - messages.count - undelivered.value
        }

        /// Queues the messages of the senders that have waited longest, as many as there is room
        /// for.
        ///
        /// - Returns: The senders, whose wait is over.
        mutating func handOver(
            _ capacity: Int,
            _ undelivered: Counter
        ) -> [SenderQueue.Entry] {
            guard !senders.isEmpty else { return [] }
            var served: [SenderQueue.Entry] = []
            let free = freePlaces(capacity, undelivered)
            while served.count < free, let next = senders.takeFirst() {
                messages.append(next.message)
                served.append(next)
            }
            return served
        }

        /// Has the first in the line look for room by itself while a series of messages is being
        /// delivered; returns it if it is to be told.
        mutating func nextLookout(_ undelivered: Counter) -> (any WaitingSender)? {
            guard undelivered.value > 0, let first = senders.first, first.number != lookout else {
                return nil
            }
            lookout = first.number
            return first.sender
        }
    }

    let capacity: Int
    private let state = Guarded(State())
    /// The number of threads that wait or are about to, and that of tasks times ``task``, so that
    /// a receiver without any takes no lock.
    private let waiting = Atomic<Int>(0)
    private static let task = 1 << 32
    /// The number of the process that has made the inbox.
    private let maker: UInt64
    /// The number of the process whose senders these are.
    private let process: Atomic<UInt64>
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
        maker = ForkCount.current
        process = Atomic(maker)
        undelivered = Counter()
    }

    /// Whether a process that forked this one has made it.
    var isInherited: Bool { maker != ForkCount.current }

    /// Queues a message, if there is room and nobody waits for it.
    func post(_ message: Message) -> Outcome {
        withState { $0.queue(message, capacity, undelivered) } ?? .full
    }

    /// The result of posting a message whose sender waits for room.
    enum Posting {
        case ended(Outcome)
        /// The number of the sender among those that wait.
        case waits(number: Int)
    }

    /// Queues a message, or has its sender wait for room.
    func post(_ message: Message, orWait sender: any WaitingSender) -> Posting {
        // Counted before the check, so that whoever makes room after it finds the sender.
        count(sender, 1)
        let posting = withState { state -> Posting in
            if let outcome = state.queue(message, capacity, undelivered) { return .ended(outcome) }
            return .waits(number: state.senders.append(message, sender))
        }
        if case .ended = posting { count(sender, -1) }
        return posting
    }

    /// Ends a sender's wait before there is room for its message.
    ///
    /// - Returns: `false` if the wait has ended or is about to: the message was queued, or the port
    ///   is invalid.
    func forget(_ number: Int) -> Bool {
        let (entry, lookout) = withState { state in
            (state.senders.remove(number), state.nextLookout(undelivered))
        }
        lookout?.checkWait()
        guard let entry else { return false }
        count(entry.sender, -1)
        return true
    }

    /// Returns whether a sender has to look for room by itself.
    ///
    /// It is the first in the line, and a series of messages is being delivered. Otherwise it is
    /// told when it has to.
    func isLookout(_ number: Int) -> Bool {
        withState { state in
            if state.lookout == number { state.lookout = nil }
            guard undelivered.value > 0, state.senders.first?.number == number else { return false }
            state.lookout = number
            return true
        }
    }

    var count: Int { withState { $0.messages.count + undelivered.value } }

    // MARK: The receiver

    /// Takes all messages, in exchange for an empty array.
    func takeAll(into messages: inout [Message?]) {
        withState { state in
            swap(&state.messages, &messages)
            undelivered.value = messages.count
        }
    }

    /// Returns whether messages are queued; if not, the next one is announced.
    ///
    /// Before that, senders get the room there is: nobody waits while there is room and none of the
    /// messages is announced.
    func hasMoreOrRearms() -> Bool {
        withState { $0.senders.isEmpty ? $0.hasMoreOrRearms() : nil } ?? handOverOrRearm()
    }

    @inline(never)
    private func handOverOrRearm() -> Bool {
        let (hasMore, served) = withState { state in
            let served = state.handOver(capacity, undelivered)
            return (state.hasMoreOrRearms(), served)
        }
        end(served)
        return hasMore
    }

    /// Queues the messages of those that wait, as many as there is room for.
    ///
    /// Called within a series, after a message was taken. It announces nothing, because the receiver
    /// looks for more messages afterwards.
    ///
    /// - Parameters:
    ///   - onlyIfTasksWait: Whether to leave it if only threads wait.
    ///   - isInSeries: Whether it may be left after the coming messages. The first in the line then
    ///     has to do it by itself, because the handler may wait for it.
    func handOverRoom(onlyIfTasksWait: Bool = false, isInSeries: Bool = false) {
        let waiting = countOfSenders
        guard waiting > 0 else { return }
        serveSenders(isTime: !onlyIfTasksWait || waiting >= Self.task, isInSeries)
    }

    @inline(never)
    private func serveSenders(isTime: Bool, _ isInSeries: Bool) {
        let (served, lookout) = withState { state in
            let served = isTime ? state.handOver(capacity, undelivered) : []
            return (served, isInSeries ? state.nextLookout(undelivered) : nil)
        }
        end(served)
        lookout?.checkWait()
    }

    // MARK: Others

    /// Queues the messages of those that wait, as many as there is room for.
    ///
    /// - Parameter isInSeries: As for the receiver's function; a task that takes the messages does it
    ///   after each.
    /// - Returns: Whether the receiver has to be told, as of the first message of a series.
    func handOverRoomAndAnnounce(isInSeries: Bool = true) -> Bool {
        guard countOfSenders > 0 else { return false }
        let (isFirst, served, lookout) = withState { state in
            let served = state.handOver(capacity, undelivered)
            let isFirst = !served.isEmpty && !exchange(&state.isAnnounced, with: true)
            return (isFirst, served, isInSeries ? state.nextLookout(undelivered) : nil)
        }
        end(served)
        lookout?.checkWait()
        return isFirst
    }

    /// Has those that wait check whether they may.
    func checkWaits() {
        guard countOfSenders > 0 else { return }
        for sender in withState({ $0.senders.waiting }) { sender.checkWait() }
    }

    /// Closes the inbox; returns the queued messages, to be released.
    func close() -> [Message?] {
        let (dropped, senders) = withState { state in
            state.isClosed = true
            return (exchange(&state.messages, with: []), state.senders.takeAll())
        }
        end(senders, isSent: false)
        return dropped
    }

    /// Ends the waits of senders, while no lock is held.
    private func end(_ entries: [SenderQueue.Entry], isSent: Bool = true) {
        for entry in entries {
            count(entry.sender, -1)
            entry.sender.endWait(isSent: isSent)
        }
    }

    private func count(_ sender: any WaitingSender, _ difference: Int) {
        forgetParents()
        waiting.add(difference * (sender.isTask ? Self.task : 1), ordering: .acquiringAndReleasing)
    }

    /// The senders that wait or are about to; one that counts itself later finds the room that was
    /// made before.
    private var countOfSenders: Int {
        guard waiting.add(0, ordering: .acquiringAndReleasing).oldValue > 0 else { return 0 }
        forgetParents()
        return waiting.load(ordering: .acquiring)
    }

    // MARK: Forks

    /// Calls a body with the state, in which there are no senders of a process that forked this one.
    ///
    /// Every access goes through here.
    @inline(__always)
    private func withState<Result>(
        _ body: (inout sending State) -> sending Result
    ) -> sending Result {
        forgetParents()
        return state.withLock(body)
    }

    /// Forgets the senders of a process that forked this one, before any of this one are counted.
    @inline(__always)
    private func forgetParents() {
        let current = ForkCount.current
        if process.load(ordering: .acquiring) != current { forgetSenders(before: current) }
    }

    @inline(never)
    private func forgetSenders(before current: UInt64) {
        state.withLock { state in
            guard process.load(ordering: .relaxed) != current else { return }
            let rest = SenderQueue(behind: state.senders)
            state.inherited.append(exchange(&state.senders, with: rest))
            state.lookout = nil
            waiting.store(0, ordering: .releasing)
            // Last: whoever finds it counts senders without the lock.
            process.store(current, ordering: .releasing)
        }
    }
}
