extension UVRunLoop.TypedPort {
    /// The messages as a sequence, for a task that takes them instead of a handler.
    ///
    /// The rules of ``UVRunLoop/Port/messages`` hold.
    ///
    /// > Threading: Any thread.
    public var messages: Messages { Messages(untyped: port.messages) }

    /// The messages of a typed port as a sequence; see ``UVRunLoop/TypedPort/messages``.
    ///
    /// > Threading: Any thread; one task at a time may wait for a message.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = Message
        /// A sequence never fails.
        public typealias Failure = Never

        fileprivate let untyped: UVRunLoop.Port.Messages

        /// Invalidates the port, and with it the sequence.
        ///
        /// > Threading: Any thread.
        public func invalidate() { untyped.invalidate() }

        /// Returns an iterator; only one task at a time may wait for a message.
        public func makeAsyncIterator() -> Iterator {
            Iterator(untyped: untyped.makeAsyncIterator())
        }

        /// Takes the messages in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var untyped: UVRunLoop.Port.Messages.Iterator

            /// Waits for the next message.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: The message; `nil` at the end of the sequence.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async -> Message? {
                while let message = await untyped.next(isolation: isolation) {
                    if let value = UVRunLoop.TypedPort<Message>.value(of: message) { return value }
                }
                return nil
            }
        }
    }
}
