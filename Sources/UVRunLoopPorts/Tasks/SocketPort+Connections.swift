import UVRunLoop

extension UVRunLoop.SocketPort {
    /// The accepted connections as a sequence, for a task that takes them instead of a handler.
    ///
    /// From the first use of this property on, the listener's handler is not called any more, if it
    /// has one. The loop accepts in the modes to which the listener was added. When a connection
    /// was accepted that no task waited for, the listener accepts no more until a task takes it;
    /// further clients wait in the backlog. A connection that is never taken is closed when the
    /// listener becomes invalid or is released.
    ///
    /// The connections need no handler: add them to a loop and use their ``bytes``. A handler that
    /// they are given is not called.
    ///
    /// The sequence has one consumer. It ends when the listener becomes invalid, which happens at
    /// the end of its loop, too. If the listener fails, the sequence throws the error once. A task
    /// that is cancelled gets `nil`. Releasing the sequence leaves the listener as it is.
    ///
    /// > Threading: Any thread. Traps for a connection.
    public var connections: Connections {
        let listener = listener
        listener.beginTaking()
        return Connections(port: self, listener: listener)
    }

    /// The connections of a listener as a sequence; see ``UVRunLoop/SocketPort/connections``.
    ///
    /// > Threading: Any thread; one task at a time may wait for a connection.
    public struct Connections: AsyncSequence, Sendable {
        /// A connection, which is in no loop yet.
        public typealias Element = UVRunLoop.SocketPort
        /// The error of the listener.
        public typealias Failure = UVRunLoop.SocketError

        fileprivate let port: UVRunLoop.SocketPort
        fileprivate let listener: ListenerReceiver

        /// Invalidates the listener, and with it the sequence.
        ///
        /// > Threading: Any thread.
        public func invalidate() { port.invalidate() }

        /// Returns an iterator; only one task at a time may wait for a connection.
        public func makeAsyncIterator() -> Iterator { Iterator(port: port, listener: listener) }

        /// Takes the connections in turn.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let port: UVRunLoop.SocketPort
            fileprivate let listener: ListenerReceiver

            /// Waits for the next connection.
            ///
            /// - Parameter isolation: The caller's actor.
            /// - Returns: The connection; `nil` at the end of the sequence.
            /// - Throws: The error with which the listener failed, once.
            public mutating func next(
                isolation: isolated (any Actor)? = #isolation
            ) async throws(UVRunLoop.SocketError) -> UVRunLoop.SocketPort? {
                try await listener.next(of: port, isolation: isolation)
            }
        }
    }

    private var listener: ListenerReceiver {
        switch role {
        case .listener(let receiver): receiver
        case .stream: fail("A connection accepts no others. Use the port that listens.")
        }
    }
}

extension ListenerReceiver {
    typealias Outcome = TaskIntake<UVRunLoop.SocketPort, SocketError>.Outcome

    /// Has a task take the connections from now on, instead of the handler.
    func beginTaking() {
        state.withLock { state in
            guard !state.resources.isTaken else { return }
            state.resources.isTaken = true
            state.intake = TaskIntake()
            // Nobody waits yet.
            if state.resources.descriptor == nil { _ = state.intake?.finish() }
        }
    }

    /// Gives a connection to the task that takes them.
    ///
    /// - Returns: Whether a task waited for it; `nil` if the handler gets it.
    func giveToTask(
        _ connection: UVRunLoop.SocketPort,
        of port: UVRunLoop.SocketPort
    ) -> Bool? {
        guard withResources({ $0.isTaken }) else { return nil }
        connection.stream.beginTaking()
        let (resumption, isHeld) = state.withLock { state in
            (state.intake?.offer(connection), state.isHeld)
        }
        resumption?.perform()
        if isHeld, port.isValid { port.updateInterest() }
        return resumption != nil
    }

    fileprivate func next(
        of port: UVRunLoop.SocketPort,
        isolation: isolated (any Actor)?
    ) async throws(SocketError) -> UVRunLoop.SocketPort? {
        if Task.isCancelled { return nil }
        let (taken, wasHeld) = state.withLock { state in
            let wasHeld = state.isHeld
            return (state.intake?.take(), wasHeld)
        }
        if wasHeld, port.isValid { port.updateInterest() }
        if let taken { return try taken.get() }
        let outcome: Outcome = await UVRunLoop.suspend(on: port.link.loop, isolation: isolation) {
            waiter in
            let (resumption, wasHeld) = state.withLock { state in
                let wasHeld = state.isHeld
                return (state.intake?.begin(waiter), wasHeld)
            }
            if wasHeld, port.isValid { port.updateInterest() }
            resumption?.perform()
        } onCancel: { wait in
            state.withLock { $0.intake?.cancel(wait) }?.perform()
        }
        return try outcome.get()
    }

    /// Ends the sequence, and closes a connection that nobody took.
    func endIntake() {
        let ended = state.withLock { $0.intake?.endAtOnce() }
        ended?.resumption?.perform()
        withExtendedLifetime(ended) {}
    }
}
