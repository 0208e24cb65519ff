import Synchronization

/// The senders' side of a port: where messages wait until the loop takes them all at once.
///
/// It shares no memory with what the loop's thread writes message by message, but for one number
/// that senders seldom read.
final class PortInbox: Sendable {
    typealias Message = UVRunLoop.PortMessage

    /// What became of a message.
    enum Outcome {
        /// It waits, and the loop does not know that something does.
        case first
        /// It waits, and the loop knows that something does.
        case announced
        case full
        /// The port is invalid.
        case refused
    }

    private struct State {
        var messages: [Message?] = []
        /// For how many more messages there is room at the least.
        var room = 0
        var isAnnounced = false
        var isClosed = false
    }

    let capacity: Int
    private let state = Monitor(State())
    /// How many of the messages that the loop took are not delivered yet.
    let undelivered: Counter

    /// A number by itself, written by one thread at a time.
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

    /// Puts a message into the queue.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - date: Until when to wait for room, in nanoseconds of the monotonic clock.
    /// - Returns: What became of it.
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

    /// Hands over all messages, in exchange for an empty array.
    func takeAll(into messages: inout [Message?]) {
        state.withLock { state in
            swap(&state.messages, &messages)
            undelivered.value = messages.count
        }
    }

    /// Whether messages wait; if not, the next one is to be announced.
    func hasMore() -> Bool {
        state.withLock { state in
            state.isAnnounced = !state.messages.isEmpty
            return state.isAnnounced
        }
    }

    /// Tells senders that wait that there is room, if somebody does.
    func tellSenders() { state.wakeAll() }

    /// Refuses messages from now on; hands over those that wait, to be released.
    func close() -> [Message?] {
        let dropped = state.withLock { state in
            state.isClosed = true
            return exchange(&state.messages, with: [])
        }
        state.wakeAll()
        return dropped
    }
}
