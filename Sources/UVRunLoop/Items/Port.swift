extension UVRunLoop {
    /// Delivers messages from any thread to a handler on its loop's thread: the port of Apple's
    /// guide, within one process.
    ///
    /// Any thread may ``send(_:limit:)`` to the port. The messages of one sender arrive in the
    /// order in which they were sent, in the modes to which the port was added, one per pass. They
    /// wait in a queue of limited length; if it is full, senders block. A port keeps its modes from
    /// being empty, whether or not there are messages. It takes no file descriptor: all ports of a
    /// loop share the loop's wake-up.
    ///
    /// The port becomes invalid when the thread of its loop ends.
    ///
    /// See *Configuring a Port-Based Input Source* in Apple's guide, listings 3-12 to 3-15.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Port: PortSource {
        /// The default number of messages that may be queued before senders block.
        public static let defaultCapacity = 1_024

        /// The link between the port and its loop.
        public let link: PortLink
        let inbox: PortInbox
        let queue: PortQueue

        /// Creates a port.
        ///
        /// Add it to a loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``. Messages that are
        /// sent before that are queued.
        ///
        /// > Threading: The thread whose loop serves the port, because the handler is bound to it.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may be queued; traps when it is less than one.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - handler: Called on the loop's thread with each message.
        public convenience init(
            capacity: Int = Port.defaultCapacity,
            order: Int = 0,
            handler: @escaping (Port, PortMessage) -> Void
        ) {
            self.init(capacity, order, HomeBound(handler))
        }

        /// Creates a port whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may be queued; traps when it is less than one.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - sendableHandler: Called on the loop's thread with each message.
        @_disfavoredOverload
        public convenience init(
            capacity: Int = Port.defaultCapacity,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (Port, PortMessage) -> Void
        ) {
            self.init(capacity, order, HomeBound(sendable: sendableHandler))
        }

        /// Creates a port whose messages are taken by a task; see ``UVRunLoop/Port/messages``.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may be queued; traps when it is less than one.
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        public convenience init(capacity: Int = Port.defaultCapacity, order: Int = 0) {
            self.init(capacity, order, nil)
        }

        private init(
            _ capacity: Int,
            _ order: Int,
            _ handler: HomeBound<(Port, PortMessage) -> Void>?
        ) {
            require(
                capacity > 0,
                "A port needs room for at least one message. Pass a larger capacity."
            )
            inbox = PortInbox(capacity: capacity)
            queue = PortQueue(inbox, handler)
            link = PortLink(
                descriptor: nil,
                events: [],
                order: order,
                warnsAs: "a port",
                receiver: queue
            )
        }

        /// Sends a message.
        ///
        /// If the queue is full, the call blocks until there is room. On the thread of the port's
        /// own loop it does not block, or no longer once the port has joined that loop, because it
        /// would do so forever; nor does it without a limit on the thread that the handler is bound
        /// to. Those that wait have one line, with the tasks that do. Blocked threads get room in
        /// batches rather than message by message; while a handler blocks the loop's thread within
        /// a batch, the first of them looks for room by itself every 20 ms.
        ///
        /// A message that was sent is delivered, unless the port becomes invalid first. If the call
        /// blocks in a task, it ends within 20 ms after the task is cancelled, and unless there was
        /// room before, nothing is sent.
        ///
        /// > Threading: Any thread. Blocks the thread: in a task, pass a limit of zero, or await
        /// > ``sendWhenThereIsRoom(_:isolation:)``.
        ///
        /// - Parameters:
        ///   - message: The message.
        ///   - limit: How long to wait for room; `nil` to wait forever, zero or less not to wait.
        /// - Returns: Whether the message was queued: `false` if there was no room within the
        ///   limit, the port is or becomes invalid, only the calling thread could make room, or the
        ///   task is cancelled.
        public func send(_ message: PortMessage, limit: Duration? = nil) -> Bool {
            checkProcess()
            return didPost(inbox.post(message)) ?? sendBehindOthers(message, limit)
        }

        /// Traps if the port is in a loop of a process that forked this one: there, nobody would
        /// take the message.
        @inline(__always)
        func checkProcess() {
            if inbox.isInherited { link.checkProcess() }
        }

        /// Announces the first message of a series.
        ///
        /// - Returns: Whether the message was queued; `nil` if there is no room for it.
        func didPost(_ outcome: PortInbox.Outcome) -> Bool? {
            if outcome == .first { link.announce() }
            return outcome == .full ? nil : outcome != .refused
        }

        /// Gives the senders that wait for room what there is.
        func handOverRoom() {
            if inbox.handOverRoomAndAnnounce() { link.announce() }
        }

        private func sendBehindOthers(_ message: PortMessage, _ limit: Duration?) -> Bool {
            // Those that wait come first, but there may be more room than they need.
            handOverRoom()
            if let isSent = didPost(inbox.post(message)) { return isSent }
            if let limit, limit <= .zero { return false }
            if limit == nil, queue.isServedByThisThreadAlone { return false }
            let date =
                limit.map { monotonicNow().addingSaturating($0.nanosecondsRoundedUp) } ?? .max
            let sender = BlockedSender()
            switch inbox.post(message, orWait: sender) {
            case .ended(let outcome): return didPost(outcome) ?? false
            case .waits(let number):
                if let isSent = wait(sender, number, until: date) { return isSent }
                // There may be room for which nobody has looked yet.
                handOverRoom()
                return inbox.forget(number) ? false : sender.awaitEnd()
            }
        }

        /// Waits until a sender's message is queued or the port is invalid.
        ///
        /// - Returns: Whether it was queued; `nil` if the sender is not to wait any longer.
        private func wait(_ sender: BlockedSender, _ number: Int, until date: Int64) -> Bool? {
            handOverRoom()
            // Before each wait, because the port may join this thread's loop at any moment.
            while !link.owner.isInLoopOfThisThread, !Task.isCancelled {
                let isLookout = inbox.isLookout(number)
                let interval = isLookout ? Self.checkInterval : .max
                let check = min(date, monotonicNow().addingSaturating(interval))
                if let isSent = sender.wait(until: CurrentTask.nextCheck(before: check)) {
                    return isSent
                }
                if monotonicNow() >= date { break }
                if isLookout { handOverRoom() }
            }
            return nil
        }

        /// How long the first thread in the line waits, within a series of messages, before it hands
        /// over the room that each has made: 20 ms.
        private static let checkInterval: Int64 = 20_000_000

        /// How many messages may be queued.
        public var capacity: Int { inbox.capacity }

        /// How many messages are queued.
        public var count: Int { inbox.count }

        /// Whether the port accepts messages: it was not invalidated, and the thread of its loop
        /// has not ended.
        public var isValid: Bool { link.isValid }

        /// Removes the port from its loop permanently.
        ///
        /// Blocked senders return `false`, and queued messages are dropped. Called on the loop's
        /// thread, no call of the handler begins after this has returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }
    }
}
