import UVRunLoop

extension UVRunLoop {
    /// The events of a source as a sequence, for a task that takes them instead of a handler.
    ///
    /// From the first use of the source's property on, its handler is not called any more. The loop
    /// wakes a task that waits, in the modes to which the source was added: a source that is in no
    /// loop gives a task only what waits already. What nobody takes waits, up to the source's
    /// limit.
    ///
    /// The sequence has one consumer. It ends when the source becomes invalid; a task that is
    /// cancelled gets `nil`, too. Releasing the sequence leaves the source as it is.
    ///
    /// > Threading: Any thread; one task at a time may wait for an event.
    public struct SystemEvents<Element: Sendable>: AsyncSequence, Sendable {
        /// A sequence never fails.
        public typealias Failure = Never

        private let source: any PortSource
        private let take: @Sendable (PortLink, isolated (any Actor)?) async -> Element?

        init<Source: PortSource>(_ source: Source, _ receiver: EventReceiver<Source, Element>) {
            receiver.inbox.beginTaking()
            self.source = source
            take = { await receiver.next(of: $0, isolation: $1) }
        }

        /// Invalidates the source, and with it the sequence.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(source) }

        /// Returns an iterator; only one task at a time may wait for an event.
        public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

        /// Takes the events in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let events: SystemEvents

            /// Waits for the next event.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: The event; `nil` at the end of the sequence.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async -> Element? {
                await events.take(events.source.link, isolation)
            }
        }
    }
}
