extension UVRunLoop {
    /// The arrivals of a signal as a sequence; see ``UVRunLoop/signals(_:)``.
    ///
    /// An element is the number of arrivals since the element before; as for a ``SignalSource``,
    /// the kernel merges signals that are pending.
    ///
    /// The sequence has one consumer. It ends when it is invalidated or released, when the loop's
    /// thread ends, and when the kernel refuses to watch the signal for want of memory; arrivals
    /// that the loop has not served are a last element, but not signals that every thread blocks,
    /// which stay pending. A task that is cancelled gets `nil`, too.
    ///
    /// > Threading: Any thread.
    public final class Signals: AsyncSequence, Sendable {
        /// The number of arrivals.
        public typealias Element = Int
        /// A sequence never fails.
        public typealias Failure = Never

        private let loop: UVRunLoop
        private let source: SignalSource
        private let slot: EventSlot<Int>

        fileprivate init(_ signal: CInt, of loop: UVRunLoop) throws(RunLoopError) {
            let slot = EventSlot<Int>(merging: +)
            let listener = try SignalSource.listener(for: signal)
            // The loop may not have served the latest ones.
            let finisher = SlotFinisher(slot) {
                let count = listener.undeliveredCount
                if count > 0 { slot.deliver(count) }
            }
            self.loop = loop
            self.slot = slot
            source = SignalSource(
                listener,
                0,
                HomeBound(sendable: { finisher.slot.deliver($1) })
            )
            loop.addUntilEnd(source)
        }

        /// Ends the sequence, after one element if the signal has arrived since the latest one.
        ///
        /// The signal has its other effects again if no other source waits for it.
        ///
        /// > Threading: Any thread.
        public func invalidate() { source.invalidate() }

        deinit {
            // A forked child leaves its parent's items alone.
            if loop.identity.isThisProcess { invalidate() }
        }

        /// Returns an iterator; only one task at a time may wait for an element.
        public func makeAsyncIterator() -> Iterator { Iterator(signals: self) }

        /// Waits for the arrivals in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let signals: Signals

            /// Waits until the signal has arrived since the latest element.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: How often it has arrived; `nil` at the end of the sequence.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async -> Int? {
                await signals.slot.next(on: signals.loop, isolation: isolation) {}
            }
        }
    }

    /// Returns a sequence of the arrivals of a signal, which are counted from now on.
    ///
    /// Its ``SignalSource`` is in the common modes, which it keeps from being empty: everything
    /// that is said there about dispositions and other sources holds here.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter signal: The number of the signal, such as `SIGTERM`.
    /// - Returns: The sequence, which ends at once if the loop has ended.
    /// - Throws: ``RunLoopError`` if the signal cannot be watched, or no descriptors are left.
    public func signals(_ signal: CInt) throws(RunLoopError) -> Signals {
        checkProcess()
        return try Signals(signal, of: self)
    }
}
