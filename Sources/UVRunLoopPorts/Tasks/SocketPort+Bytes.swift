import UVRunLoop

extension UVRunLoop.SocketPort {
    /// The received bytes as a sequence, for a task that takes them instead of a handler.
    ///
    /// From the first use of this property on, the port's handler is not called any more, if it has
    /// one. An element is the bytes of one read. The loop reads in the modes to which the port was
    /// added: a port that is in no loop gives a task only what was read already. When bytes were
    /// read that no task waited for, the port reads no more until a task takes them: the rest stays
    /// in the kernel, and finally the peer's sends block. Meanwhile the port stays in its modes,
    /// and sends what is queued; a failure waits until the bytes that were received before it are
    /// taken.
    ///
    /// The sequence has one consumer. It ends when the peer has ended sending, and when the port
    /// becomes invalid, which happens at the end of its loop, too. If the port fails, the sequence
    /// throws the error once, after the bytes received before. A task that is cancelled gets `nil`.
    /// Releasing the sequence leaves the port as it is.
    ///
    /// > Threading: Any thread. Traps for a listener.
    public var bytes: Bytes {
        stream.beginTaking()
        return Bytes(port: self)
    }

    /// The received bytes of a connection as a sequence; see ``UVRunLoop/SocketPort/bytes``.
    ///
    /// > Threading: Any thread; one task at a time may wait for bytes.
    public struct Bytes: AsyncSequence, Sendable {
        /// The bytes of one read; never empty.
        public typealias Element = [UInt8]
        /// The error of the port.
        public typealias Failure = UVRunLoop.SocketError

        fileprivate let port: UVRunLoop.SocketPort

        /// Invalidates the port, and with it the sequence.
        ///
        /// > Threading: Any thread.
        public func invalidate() { port.invalidate() }

        /// Returns an iterator; only one task at a time may wait for bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(port: port) }

        /// Takes the bytes in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let port: UVRunLoop.SocketPort

            /// Waits for the next bytes.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: The bytes of one read; `nil` at the end of the sequence.
            /// - Throws: The error with which the port failed, once.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async throws(UVRunLoop.SocketError) -> [UInt8]? {
                try await port.nextBytes(isolation: isolation)
            }
        }
    }

    private func nextBytes(
        isolation: isolated (any Actor)?
    ) async throws(UVRunLoop.SocketError) -> [UInt8]? {
        if Task.isCancelled { return nil }
        let (taken, followUp) = stream.state.withLock { $0.takeForTask() }
        apply(followUp)
        if let taken { return try taken.get() }
        return try await awaitBytes(isolation: isolation)
    }

    /// Waits for bytes, with none there before.
    func awaitBytes(
        isolation: isolated (any Actor)?
    ) async throws(UVRunLoop.SocketError) -> [UInt8]? {
        let stream = stream
        let outcome: StreamTasks.Taker.Outcome = await UVRunLoop.suspend(
            on: link.loop,
            isolation: isolation
        ) { waiter in
            let (resumption, followUp) = stream.state.withLock { $0.beginWait(waiter) }
            apply(followUp)
            resumption?.perform()
        } onCancel: { wait in
            stream.state.withLock { $0.cancel(wait) }?.perform()
        }
        return try outcome.get()
    }
}
