import Synchronization

/// The senders' side of a port: a queue that the loop empties at once.
///
/// It shares no memory with the loop's thread that is written for every message, except a counter
/// that senders seldom read.
final class PortInbox: Sendable {
    typealias Message = UVRunLoop.PortMessage

    /// The result of posting a message.
    enum Outcome {
        /// Queued, and the loop has to be told.
        case first
        /// Queued, and the loop was already told.
        case announced
        case full
        /// The port is invalid.
        case refused
    }

    private struct State {
        var messages: [Message?] = []
        /// The number of further messages for which there is certainly room.
        var room = 0
        var isAnnounced = false
        var isClosed = false
    }

    let capacity: Int
    private let state = Monitor(State())
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

    /// Queues a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - date: Until when to wait for room, in nanoseconds of the monotonic clock.
    /// - Returns: Whether it was queued.
    func post(_ message: Message, until date: Int64) -> Outcome {
        let outcome = state.wait(until: date) { state -> Outcome? in
            guard !state.isClosed else { return .refused }
            if state.room == 0 { state.room = capacity - state.messages.count - undelivered.value }
            guard state.room > 0 else { return nil }
            state.room -= 1
            state.messages.append(message)
            return exchange(&state.isAnnounced, with: true) ? .announced : .first
        }
        return outcome ?? .full
    }

    var count: Int { state.withLock { $0.messages.count + undelivered.value } }

    /// Takes all messages, in exchange for an empty array.
    func takeAll(into messages: inout [Message?]) {
        state.withLock { state in
            swap(&state.messages, &messages)
            undelivered.value = messages.count
        }
    }

    /// Returns whether messages are queued; if not, the next one has to be announced.
    func hasMore() -> Bool {
        state.withLock { state in
            state.isAnnounced = !state.messages.isEmpty
            return state.isAnnounced
        }
    }

    /// Wakes blocked senders, which check for room.
    func tellSenders() { state.wakeAll() }

    /// Closes the inbox; returns the queued messages, to be released.
    func close() -> [Message?] {
        let dropped = state.withLock { state in
            state.isClosed = true
            return exchange(&state.messages, with: [])
        }
        state.wakeAll()
        return dropped
    }
}
