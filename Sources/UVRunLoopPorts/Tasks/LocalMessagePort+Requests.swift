import Synchronization
import UVRunLoop

extension UVRunLoop.MessagePort {
    /// A message that a task has taken from a local port, and replies to.
    ///
    /// A request that is released without a reply gets one without data, so that its sender never
    /// waits in vain.
    ///
    /// > Threading: Any thread.
    public final class Request: Sendable {
        /// The message.
        public let message: Message
        let ticket: ReplyTicket
        private let receiver: LocalReceiver
        private let link: UVRunLoop.PortLink
        private let isAnswered: Atomic<Bool>
        private let process = OwnerProcess()

        init(
            _ message: Message,
            _ ticket: ReplyTicket,
            _ receiver: LocalReceiver,
            _ link: UVRunLoop.PortLink
        ) {
            self.message = message
            self.ticket = ticket
            self.receiver = receiver
            self.link = link
            isAnswered = Atomic(!message.isReplyExpected)
        }

        /// Sends the reply, as much of it as the socket accepts; the loop sends the rest.
        ///
        /// Only the first reply counts. It has no effect if the sender waits for none, or is gone.
        ///
        /// > Threading: Any thread. Traps in a forked child of the process that got the request.
        ///
        /// - Parameter data: The reply; `nil` is a reply without data.
        public func reply(_ data: [UInt8]?) {
            require(
                process.isCurrent,
                "This request was sent to the parent process, which replies to it."
            )
            guard !isAnswered.exchange(true, ordering: .relaxed) else { return }
            receiver.reply(data, to: ticket, link)
        }

        deinit {
            if process.isCurrent { reply(nil) }
        }
    }

    /// Where the reply to a request goes.
    struct ReplyTicket: Sendable {
        let number: UInt64
        let connection: UInt64
    }
}

extension UVRunLoop.MessagePort.Local {
    /// The messages as a sequence of requests, for a task that takes them instead of a handler.
    ///
    /// From the first use of this property on, the port's handler is not called any more, if it has
    /// one. The loop receives in the modes to which the port was added. When a message has arrived
    /// that no task waited for, the port reads no more until a task takes it: others wait in their
    /// sockets, and finally their senders. Pending replies are still sent. No further message of a
    /// connection is read before the reply to its request; other connections go on.
    ///
    /// The sequence has one consumer. It ends when the port becomes invalid, which happens at the
    /// end of its loop, too; then a message that was not taken is dropped. A task that is cancelled
    /// gets `nil`. Releasing the sequence leaves the port as it is.
    ///
    /// > Threading: Any thread.
    public var requests: Requests {
        receiver.beginTaking()
        return Requests(port: self)
    }

    /// The requests of a port as a sequence; see ``UVRunLoop/MessagePort/Local/requests``.
    ///
    /// > Threading: Any thread; one task at a time may wait for a request.
    public struct Requests: AsyncSequence, Sendable {
        /// A request.
        public typealias Element = UVRunLoop.MessagePort.Request
        /// A sequence never fails.
        public typealias Failure = Never

        fileprivate let port: UVRunLoop.MessagePort.Local

        /// Invalidates the port, and with it the sequence.
        ///
        /// > Threading: Any thread.
        public func invalidate() { port.invalidate() }

        /// Returns an iterator; only one task at a time may wait for a request.
        public func makeAsyncIterator() -> Iterator { Iterator(port: port) }

        /// Takes the requests in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let port: UVRunLoop.MessagePort.Local

            /// Waits for the next request.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: The request; `nil` at the end of the sequence.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async -> UVRunLoop.MessagePort.Request? {
                await port.receiver.next(of: port.link, isolation: isolation)
            }
        }
    }
}
