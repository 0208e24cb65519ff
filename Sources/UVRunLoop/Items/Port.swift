extension UVRunLoop {
    /// Takes messages from any thread to a handler on the thread of its loop: the port of Apple's
    /// guide within one process.
    ///
    /// Whoever holds the port may ``send(_:limit:)`` to it. The messages of one sender arrive in
    /// the order in which they were sent, in the modes to which the port was added, one in a pass.
    /// They wait in a queue of limited length; when that is full, senders wait. A port in a mode
    /// keeps the mode from being empty, whether or not there are messages. It takes no file
    /// descriptor: the loop's one wake-up serves all its ports.
    ///
    /// When the thread of its loop ends, the port becomes invalid.
    ///
    /// See *Configuring a Port-Based Input Source* in Apple's guide, listings 3-12 to 3-15.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Port: PortSource {
        /// How many messages wait for a port before its senders do, unless it was made for
        /// another number.
        public static let defaultCapacity = 1_024

        /// What a loop knows the port by.
        public let link: PortLink
        private let inbox: PortInbox

        /// Makes a port.
        ///
        /// Add it to a loop with ``UVRunLoop/add(_:forMode:)-(UVRunLoop.PortSource,_)``. Messages
        /// may be sent before that; they wait.
        ///
        /// > Threading: The thread whose loop is to serve the port, because the handler stays on
        /// it.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may wait; traps when it is less than one.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - handler: Called on the loop's thread with each message.
        public convenience init(
            capacity: Int = Port.defaultCapacity,
            order: Int = 0,
            handler: @escaping (Port, PortMessage) -> Void
        ) {
            self.init(capacity, order, ThreadBound(handler))
        }

        /// Makes a port whose handler may be called on any thread.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - capacity: How many messages may wait; traps when it is less than one.
        ///   - order: The turn among sources that become ready at the same time; lower ones first.
        ///   - sendableHandler: Called on the loop's thread with each message.
        @_disfavoredOverload
        public convenience init(
            capacity: Int = Port.defaultCapacity,
            order: Int = 0,
            sendableHandler: @escaping @Sendable (Port, PortMessage) -> Void
        ) {
            self.init(capacity, order, ThreadBound(sendable: sendableHandler))
        }

        private init(
            _ capacity: Int,
            _ order: Int,
            _ handler: ThreadBound<(Port, PortMessage) -> Void>
        ) {
            require(capacity > 0, "A port needs room for one message at least.")
            inbox = PortInbox(capacity: capacity)
            link = PortLink(
                descriptor: nil,
                events: [],
                order: order,
                receiver: PortQueue(inbox, handler)
            )
        }

        /// Sends a message.
        ///
        /// When as many messages wait as the port has room for, the call waits until there is room.
        /// On the thread of the port's own loop, where that would be for ever, it does not wait.
        /// Senders that wait are told of room now and then and not message by message, and not
        /// while a handler keeps its thread to itself.
        ///
        /// What was sent is delivered, unless the port is invalidated before its turn has come.
        ///
        /// > Threading: Any thread. Blocks it: a task had better pass a limit of zero.
        ///
        /// - Parameters:
        ///   - message: The message.
        ///   - limit: How long to wait for room; `nil` for as long as it takes, zero or less for
        ///     not at all.
        /// - Returns: Whether the message is on its way: `false` when there was no room within the
        ///   limit, and when the port is invalid or became so meanwhile.
        public func send(_ message: PortMessage, limit: Duration? = nil) -> Bool {
            switch inbox.post(message, until: .zero) {
            case .announced: return true
            case .first:
                link.announce()
                return true
            case .refused: return false
            case .full: return sendWhenThereIsRoom(message, limit)
            }
        }

        private func sendWhenThereIsRoom(_ message: PortMessage, _ limit: Duration?) -> Bool {
            if let limit, limit <= .zero { return false }
            if let loop = link.loop, loop.isOnOwnThread { return false }
            let date = limit.map { monotonicNow().addingSaturating($0.nanosecondsRoundedUp) }
            let outcome = inbox.post(message, until: date ?? .max)
            if outcome == .first { link.announce() }
            return outcome == .first || outcome == .announced
        }

        /// Its turn among sources that become ready at the same time; lower ones are served first.
        ///
        /// Numbers of more than 32 bits count as the nearest of 32.
        public var order: Int { link.order }

        /// How many messages may wait.
        public var capacity: Int { inbox.capacity }

        /// How many messages wait.
        public var count: Int { inbox.count }

        /// Whether the port takes messages: it was not invalidated, and the thread of its loop has
        /// not ended.
        public var isValid: Bool { link.isValid }

        /// Takes the port out of its loop for good.
        ///
        /// Senders that wait are told that their messages were not sent; messages that wait are
        /// dropped. On the loop's thread no call begins any more when this returns.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            UVRunLoop.invalidate(self)
        }
    }
}
