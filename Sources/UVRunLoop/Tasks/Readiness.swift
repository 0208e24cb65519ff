extension UVRunLoop {
    /// The readiness of a descriptor as a sequence; see ``UVRunLoop/readiness(of:_:)``.
    ///
    /// An element is the set of events since the element before. The descriptor is level-triggered:
    /// if it is still ready when the consumer waits again, the next element comes at once. Reads
    /// and writes must expect `EAGAIN`. A `.hangUp` lasts, too: after one, the consumer should end
    /// the sequence, because another comes whenever it waits.
    ///
    /// The sequence has one consumer. It ends when it is invalidated or released, when the loop's
    /// thread ends, and when the kernel refuses the descriptor, after a last `.hangUp`; a task that
    /// is cancelled gets `nil`, too.
    ///
    /// > Threading: Any thread.
    public final class Readiness: AsyncSequence, Sendable {
        /// The events that occurred.
        public typealias Element = DescriptorSource.Events
        /// A sequence never fails.
        public typealias Failure = Never

        private let loop: UVRunLoop
        private let source: DescriptorSource
        private let slot: EventSlot<Element>
        /// The consumer may read or write while the source is out of its modes.
        fileprivate let use: NonBlockingUse

        fileprivate init(
            of descriptor: CInt,
            _ events: Element,
            on loop: UVRunLoop
        ) throws(RunLoopError) {
            let slot = EventSlot<Element> { $0.union($1) }
            let use = try RunLoopError.translating(
                try NonBlockingUse(of: descriptor),
                of: .descriptor
            )
            // A consumer may be about to read, also after the end of the loop.
            let finisher = SlotFinisher(slot) { if !slot.isInUse { use.end() } }
            self.use = use
            self.loop = loop
            self.slot = slot
            let call = DescriptorCall { @Sendable [unowned loop] source, events in
                finisher.slot.deliver(events) {
                    loop.remove(source, forMode: .common)
                } rejoin: {
                    loop.addUntilEnd(source)
                }
                // A hang-up disables the source, and lasts: it is delivered whenever the consumer
                // waits.
                if events.contains(.hangUp), loop.contains(source, forMode: .common) {
                    loop.addUntilEnd(source)
                }
            }
            let handler = HomeBound(sendable: call)
            source = try DescriptorSource(descriptor, events, 0, handler, endsWithLoop: true)
            loop.addUntilEnd(source)
        }

        /// Ends the sequence.
        ///
        /// When this returns, the kernel no longer watches the descriptor, if no other source does,
        /// its owner may close it, and no task gets events any more. One that got one before
        /// may still be about to read, and the descriptor has its blocking mode again: end the
        /// sequence in the task that reads, or await that task before the descriptor is closed.
        ///
        /// > Threading: Any thread.
        public func invalidate() {
            source.invalidate()
            // The handler, which would end it, is released later if it is being called.
            slot.end { use.end() }
        }

        deinit {
            // A forked child leaves its parent's items alone.
            if loop.identity.isThisProcess { invalidate() }
        }

        /// Returns an iterator; only one task at a time may wait for an element.
        public func makeAsyncIterator() -> Iterator { Iterator(readiness: self) }

        /// Waits for the events in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let readiness: Readiness

            /// Waits until the descriptor is ready.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: The events; `nil` at the end of the sequence.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async -> Element? {
                let (loop, source) = (readiness.loop, readiness.source)
                let events = await readiness.slot.next(on: loop, isolation: isolation) {
                    loop.addUntilEnd(source)
                }
                if events == nil { readiness.consumerGotTheEnd() }
                return events
            }
        }

        /// Gives the descriptor back, unless the sequence goes on: a task that was cancelled leaves
        /// what is there to others.
        private func consumerGotTheEnd() {
            // In this order: after the end nothing is delivered, and a kept element is in use.
            if slot.isFinished || loop.hasEnded, !slot.isInUse { use.end() }
        }
    }

    /// Returns a sequence of the events of a descriptor.
    ///
    /// Its ``DescriptorSource`` is in the common modes: what is said there about non-blocking
    /// descriptors and standard descriptors holds here. When the descriptor is ready and no task
    /// waits, the source leaves these modes until one does, so that the loop does not spin.
    ///
    /// The descriptor is non-blocking from this call until the sequence has ended. If its loop ends
    /// first, or the kernel refuses the descriptor, the consumer may still be about to read: then
    /// it is non-blocking until a task that is not cancelled gets `nil`, or the sequence is
    /// invalidated or released.
    ///
    /// > Threading: Any thread. The caller keeps owning the descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: An open descriptor of a pipe, socket, terminal, eventfd or the like.
    ///   - events: The events to wait for.
    /// - Returns: The sequence, which ends at once if the loop has ended.
    /// - Throws: ``RunLoopError`` if the descriptor is closed or cannot be watched.
    public func readiness(
        of descriptor: CInt,
        _ events: DescriptorSource.Events
    ) throws(RunLoopError) -> Readiness {
        checkProcess()
        return try Readiness(of: descriptor, events, on: self)
    }
}
