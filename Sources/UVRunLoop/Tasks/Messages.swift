extension UVRunLoop.Port {
    /// The messages as a sequence, for a task that takes them instead of a handler.
    ///
    /// From the first use of this property on, the port's handler is not called any more, if it
    /// has one. The messages stay in the port's queue until the task takes them, and senders
    /// wait while the queue is full. The loop wakes a task that waits, in the modes to which the
    /// port was added: a port that is in no loop gives a task only what is queued already.
    ///
    /// On the loop's thread, a task takes at most as many messages in a row as the port has room
    /// for; then the loop goes on with its pass.
    ///
    /// The sequence has one consumer. It ends when the port becomes invalid; a task that is
    /// cancelled gets `nil`, too. Releasing the sequence leaves the port as it is.
    ///
    /// > Threading: Any thread.
    public var messages: Messages {
        queue.takeByTask()
        return Messages(port: self)
    }

    /// The messages of a port as a sequence; see ``UVRunLoop/Port/messages``.
    ///
    /// > Threading: Any thread; one task at a time may wait for a message.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = UVRunLoop.PortMessage
        /// A sequence never fails.
        public typealias Failure = Never

        fileprivate let port: UVRunLoop.Port

        /// Invalidates the port, and with it the sequence.
        ///
        /// > Threading: Any thread.
        public func invalidate() { port.invalidate() }

        /// Returns an iterator; only one task at a time may wait for a message.
        public func makeAsyncIterator() -> Iterator { Iterator(port: port) }

        /// Takes the messages in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let port: UVRunLoop.Port

            /// Waits for the next message.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: The message; `nil` at the end of the sequence.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async -> UVRunLoop.PortMessage? {
                await port.queue.next(in: port.link.loop, isolation: isolation)
            }
        }
    }
}
