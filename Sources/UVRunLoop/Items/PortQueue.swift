/// The receiving side of a port: takes its messages from the inbox, many at a time, and gives them
/// out one by one, to the handler or to a task.
///
/// A task may begin to take the messages at any moment, from within the handler too. So each
/// message is taken under the lock of the batch, for the one or the other.
final class PortQueue: PortReceiver {
    typealias Message = UVRunLoop.PortMessage

    /// Messages that were taken from the inbox and not delivered yet.
    private struct Batch {
        private var messages: [Message?] = []
        private var next = 0
        /// Whether a task takes the messages instead of the handler.
        var isTakenByTask: Bool
        private var isClosed = false

        init(isTakenByTask: Bool) { self.isTakenByTask = isTakenByTask }

        var count: Int { messages.count - next }

        /// Takes the oldest message; after the batch's last one, all that is in the inbox by then,
        /// if the batch may be refilled.
        @inline(__always)
        mutating func takeNext(refillingFrom inbox: PortInbox, mayRefill: Bool = true) -> Message? {
            if next == messages.count {
                guard !isClosed, mayRefill else { return nil }
                refill(from: inbox)
                guard next < messages.count else { return nil }
            }
            let message = exchange(&messages[next], with: nil)
            next += 1
            inbox.undelivered.value = count
            return message
        }

        private mutating func refill(from inbox: PortInbox) {
            messages.removeAll(keepingCapacity: true)
            next = 0
            inbox.takeAll(into: &messages)
        }

        /// Gives out no message any more; returns those that are left, to be released.
        mutating func close() -> [Message?] {
            isClosed = true
            next = 0
            return exchange(&messages, with: [])
        }
    }

    private let inbox: PortInbox
    /// `nil` for a port whose messages are taken by a task from the beginning.
    private let handler: HomeBound<(UVRunLoop.Port, Message) -> Void>?
    private let batch: Guarded<Batch>
    /// Tells the task that takes the messages that there are some.
    let arrivals = EventSlot<Void> { _, _ in }

    init(_ inbox: PortInbox, _ body: HomeBound<(UVRunLoop.Port, Message) -> Void>?) {
        self.inbox = inbox
        handler = body
        batch = Guarded(Batch(isTakenByTask: body == nil))
    }

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        handler?.home.check(is: thread, caller)
    }

    var fact: String? { "\(inbox.count) of \(inbox.capacity) messages" }

    var isReady: Bool { inbox.count > 0 }

    /// Whether only the calling thread can take messages: the handler is bound to it.
    var isServedByThisThreadAlone: Bool {
        guard let home = handler?.home, !home.isAnywhere, home.isHere else { return false }
        return batch.withLock { !$0.isTakenByTask }
    }

    func receive(
        port: UVRunLoop.Port,
        _ events: UVRunLoop.DescriptorEvents
    ) -> ServeResult {
        var isFirst = true
        return deliver(to: port) { exchange(&isFirst, with: false) }
    }

    func receiveMore(port: UVRunLoop.Port, while mayGoOn: () -> Bool) -> Bool {
        deliver(to: port, while: mayGoOn).hasMore
    }

    /// Delivers a series of messages; looks up the handler once.
    private func deliver(to port: UVRunLoop.Port, while mayGoOn: () -> Bool) -> ServeResult {
        guard let body = handler?.current else { return leaveToTask(wasHandled: false) }
        var result = ServeResult(wasHandled: false, hasMore: true)
        var threadsGotRoom = true
        defer { if !threadsGotRoom { inbox.handOverRoom() } }
        while result.hasMore, port.isValid, mayGoOn() {
            switch takeForHandler() {
            case .message(let message, let left):
                // Before the call, which may take long: there is room already.
                threadsGotRoom = !result.wasHandled || isTimeForThreads(left)
                inbox.handOverRoom(onlyIfTasksWait: !threadsGotRoom, isInSeries: left > 0)
                body(port, message)
                result.wasHandled = true
                result.hasMore = left > 0 || inbox.hasMoreOrRearms()
            case .nothing: result.hasMore = inbox.hasMoreOrRearms()
            case .isForTask: return leaveToTask(wasHandled: result.wasHandled)
            }
        }
        return result
    }

    /// The loop's finding for the handler.
    private enum Found {
        /// A message, and the number of those that are left in the batch.
        case message(Message, left: Int)
        case nothing
        case isForTask
    }

    private func takeForHandler() -> Found {
        batch.withLock { batch in
            if batch.isTakenByTask { return .isForTask }
            guard let message = batch.takeNext(refillingFrom: inbox) else { return .nothing }
            return .message(message, left: batch.count)
        }
    }

    /// Has the task check for messages, if it waits, or when it does next.
    ///
    /// The port is not ready any more: before the task waits, it has the next message announced.
    private func leaveToTask(wasHandled: Bool) -> ServeResult {
        ServeResult(wasHandled: arrivals.deliver(()) || wasHandled)
    }

    /// Whether blocked threads get room within a series of messages, with so many left in the
    /// batch.
    ///
    /// They get it for its first message, when it has ended, and twice per batch: to wake one for
    /// every message would cost a switch for each. While tasks wait, each message's room is given
    /// away, to whoever has waited longest.
    private func isTimeForThreads(_ left: Int) -> Bool {
        left == 0 || left == inbox.capacity / 2
    }

    func handOverRoom() { inbox.handOverRoom() }

    func checkWaits() { inbox.checkWaits() }

    func releaseHandler() {
        let dropped = inbox.close()
        let undelivered = batch.withLock { $0.close() }
        inbox.undelivered.value = 0
        handler?.release()
        arrivals.finish()
        withExtendedLifetime((dropped, undelivered)) {}
    }

    func loopDidEnd(port: UVRunLoop.Port) { port.invalidate() }

    // MARK: A task

    /// Has a task take the messages from now on, instead of the handler.
    func takeByTask() { batch.withLock { $0.isTakenByTask = true } }

    /// Whether there is a message; if there is none, the next one is announced to the loop.
    func hasMoreOrRearms() -> Bool { inbox.hasMoreOrRearms() }

    /// Takes a message, if there is one.
    ///
    /// - Parameter mayRefill: Whether to begin another batch after the last one.
    /// - Returns: The oldest message; `nil` if there is none, or it belongs to another batch.
    func takeMessage(mayRefill: Bool) -> Message? {
        let message = batch.withLock { $0.takeNext(refillingFrom: inbox, mayRefill: mayRefill) }
        // Each time: the task may wait for a sender before it takes the next message.
        if message != nil, inbox.handOverRoomAndAnnounce(isInSeries: false) {
            _ = arrivals.deliver(())
        }
        return message
    }
}
