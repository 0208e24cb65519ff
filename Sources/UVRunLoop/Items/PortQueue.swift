import Synchronization

/// The loop's side of a port: takes its messages from the inbox, many at a time, and delivers them
/// one by one.
final class PortQueue: TypedPortReceiver {
    typealias Message = UVRunLoop.PortMessage

    /// Messages that were taken from the inbox and not delivered yet.
    private struct Batch {
        var messages: [Message?] = []
        var next = 0
        var isClosed = false

        var count: Int { messages.count - next }

        mutating func takeNext() -> Message? {
            guard next < messages.count else { return nil }
            defer { next += 1 }
            return exchange(&messages[next], with: nil)
        }

        /// Takes all messages of the inbox; the batch must be empty.
        mutating func refill(from inbox: PortInbox) {
            messages.removeAll(keepingCapacity: true)
            next = 0
            inbox.takeAll(into: &messages)
        }
    }

    private let inbox: PortInbox
    /// `nil` for a port whose messages are taken by a task from the beginning.
    private let handler: HomeBound<(UVRunLoop.Port, Message) -> Void>?
    private let batch = Guarded(Batch())
    /// Tells the task that takes the messages that there are some.
    private let arrivals = EventSlot<Void> { _, _ in }
    /// Whether a task takes the messages instead of the handler.
    private let isTakenByTask: Atomic<Bool>

    init(_ inbox: PortInbox, _ body: HomeBound<(UVRunLoop.Port, Message) -> Void>?) {
        self.inbox = inbox
        handler = body
        isTakenByTask = Atomic(body == nil)
    }

    func checkHome(is thread: ThreadIdentity, _ caller: () -> Caller) {
        handler?.checkHome(is: thread, caller)
    }

    var isReady: Bool { inbox.count > 0 }

    func receive(
        port: UVRunLoop.Port,
        _ events: UVRunLoop.DescriptorSource.Events
    ) -> ServeResult {
        var isFirst = true
        return receiveMore(port: port) { exchange(&isFirst, with: false) }
    }

    /// Delivers messages in a loop that looks up the batch and the handler once.
    func receiveMore(port: UVRunLoop.Port, while mayGoOn: () -> Bool) -> ServeResult {
        guard !isTakenByTask.load(ordering: .acquiring) else {
            return ServeResult(wasHandled: arrivals.deliver(()))
        }
        guard let body = handler?.current else { return ServeResult(wasHandled: false) }
        var batch = batch.withLock { exchange(&$0, with: Batch()) }
        var result = ServeResult(wasHandled: false, hasMore: true)
        while result.hasMore, port.isValid, mayGoOn() {
            if batch.count == 0 { batch.refill(from: inbox) }
            guard let message = batch.takeNext() else { break }
            inbox.undelivered.value = batch.count
            // Before the call, which may take long: there is room already.
            tellSendersPeriodically(batch.count)
            body(port, message)
            result.wasHandled = true
            result.hasMore = batch.count > 0 || inbox.hasMore()
        }
        putBack(batch)
        return result
    }

    /// Keeps the remaining messages for the next time, unless the port has become invalid.
    private func putBack(_ rest: Batch) {
        let dropped = batch.withLock { batch -> Batch in
            if batch.isClosed { return rest }
            batch = rest
            return Batch()
        }
        withExtendedLifetime(dropped) {}
    }

    /// Wakes blocked senders twice per batch.
    ///
    /// Waking them for every message would cost a thread switch for each.
    private func tellSendersPeriodically(_ left: Int) {
        if left == 0 || left == inbox.capacity / 2 { inbox.tellSenders() }
    }

    func servingDidEnd() { inbox.tellSenders() }

    func releaseHandler() {
        let dropped = inbox.close()
        let undelivered = batch.withLock { exchange(&$0, with: Batch(isClosed: true)) }
        inbox.undelivered.value = 0
        handler?.release()
        arrivals.finish()
        withExtendedLifetime((dropped, undelivered)) {}
    }

    func loopDidEnd(port: UVRunLoop.Port) { port.invalidate() }

    // MARK: A task

    /// Has a task take the messages from now on, instead of the handler.
    func takeByTask() { isTakenByTask.store(true, ordering: .releasing) }

    /// Waits for a message; returns `nil` at the end of the port, or if the task was cancelled.
    func next(in loop: UVRunLoop?, isolation: isolated (any Actor)?) async -> Message? {
        while true {
            if let message = takeMessage() { return message }
            // From here on, the next message is announced to the loop.
            if inbox.hasMore() { continue }
            let arrival: Void? = await arrivals.next(on: loop, isolation: isolation) {}
            if arrival == nil { return nil }
        }
    }

    private func takeMessage() -> Message? {
        let message = batch.withLock { batch -> Message? in
            guard !batch.isClosed else { return nil }
            if batch.count == 0 { batch.refill(from: inbox) }
            defer { inbox.undelivered.value = batch.count }
            return batch.takeNext()
        }
        // Each time: the task may wait for a sender before it takes the next message.
        if message != nil { inbox.tellSenders() }
        return message
    }
}
