import Synchronization

/// The messages on their way to one port.
///
/// Senders append to one array; the loop takes it whole and delivers from there, so that the two
/// sides seldom meet.
final class PortQueue: PortReceiver {
    typealias Message = UVRunLoop.PortMessage

    /// What became of a message.
    enum Outcome {
        /// It waits, and the loop does not know of the queue yet.
        case first
        /// It waits, and the loop knows that there is something.
        case announced
        case full
        /// The port is invalid.
        case refused
    }

    private struct Incoming {
        var messages: [Message?] = []
        /// Whether the loop knows that something waits.
        var isAnnounced = false
        var isClosed = false
    }

    private struct Batch {
        var messages: [Message?] = []
        var next = 0
    }

    let capacity: Int
    private let handler: Handler<(UVRunLoop.Port, Message) -> Void>
    private let incoming = Monitor(Incoming())
    /// What was taken from the incoming and not delivered yet. Taken before the other lock.
    private let batch = Guarded(Batch())
    /// How many messages of the batch are left.
    private let batchCount = Atomic<Int>(0)

    init(capacity: Int, _ body: ThreadBound<(UVRunLoop.Port, Message) -> Void>) {
        self.capacity = capacity
        handler = Handler(body)
    }

    // MARK: Senders

    /// Puts a message into the queue.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - date: Until when to wait for room, in nanoseconds of the monotonic clock.
    /// - Returns: What became of it.
    func post(_ message: Message, until date: Int64) -> Outcome {
        let outcome = incoming.wait(until: date) { incoming -> Outcome? in
            guard !incoming.isClosed else { return .refused }
            let count = incoming.messages.count + batchCount.load(ordering: .sequentiallyConsistent)
            guard count < capacity else { return nil }
            incoming.messages.append(message)
            return exchange(&incoming.isAnnounced, with: true) ? .announced : .first
        }
        return outcome ?? .full
    }

    var count: Int {
        incoming.withLock { $0.messages.count } + batchCount.load(ordering: .relaxed)
    }

    // MARK: The loop

    func checkHome(is thread: ThreadIdentity) { handler.checkHome(is: thread) }

    var isReady: Bool { count > 0 }

    func receive(
        _ port: any UVRunLoop.PortSource,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> PortAnswer {
        guard let port = port as? UVRunLoop.Port, let body = handler.current,
            let message = takeMessage()
        else { return PortAnswer(wasHandled: false) }
        body(port, message)
        return PortAnswer(wasHandled: true, hasMore: hasMore())
    }

    private func takeMessage() -> Message? {
        batch.withLock { batch in
            if batch.next == batch.messages.count { refill(&batch) }
            guard batch.next < batch.messages.count else { return nil }
            defer { batch.next += 1 }
            batchCount.subtract(1, ordering: .sequentiallyConsistent)
            return exchange(&batch.messages[batch.next], with: nil)
        }
    }

    private func refill(_ batch: inout Batch) {
        var messages = exchange(&batch.messages, with: [])
        messages.removeAll(keepingCapacity: true)
        incoming.withLock { incoming in
            swap(&incoming.messages, &messages)
            batchCount.store(messages.count, ordering: .sequentiallyConsistent)
        }
        batch.messages = messages
        batch.next = 0
    }

    /// Whether messages wait; if not, the next one is to be announced.
    private func hasMore() -> Bool {
        if batchCount.load(ordering: .relaxed) > 0 { return true }
        return incoming.withLock { incoming in
            incoming.isAnnounced = !incoming.messages.isEmpty
            return incoming.isAnnounced
        }
    }

    /// There is room for senders that wait. They are not told message by message, which would be
    /// a change of threads for each.
    func turnDidEnd() { incoming.wakeAll() }

    // MARK: The end

    func letGo(in loop: UVRunLoop?) {
        let dropped = incoming.withLock { incoming in
            incoming.isClosed = true
            return exchange(&incoming.messages, with: [])
        }
        incoming.wakeAll()
        let undelivered = batch.withLock { batch in
            batchCount.store(0, ordering: .sequentiallyConsistent)
            batch.next = 0
            return exchange(&batch.messages, with: [])
        }
        handler.letGo(with: loop)
        withExtendedLifetime((dropped, undelivered)) {}
    }

    func loopDidEnd(_ port: any UVRunLoop.PortSource) { UVRunLoop.invalidate(port) }
}
