import UVRunLoop

extension UVRunLoop {
    /// Has the loop's thread create a source and add it to the common modes.
    ///
    /// - Parameters:
    ///   - isolation: The caller's actor.
    ///   - make: Creates the source; called on the loop's thread.
    ///   - discard: Ends a source that was created when the task is cancelled.
    /// - Returns: The source.
    /// - Throws: The error of `make`; `CancellationError` if the task is cancelled;
    ///   ``PerformError/threadEnded`` if the loop's thread ends first or has ended.
    func started<Source: PortSource>(
        isolation: isolated (any Actor)?,
        _ make: @escaping @Sendable () throws -> Source,
        discarding discard: @escaping @Sendable (Source) -> Void = { UVRunLoop.invalidate($0) }
    ) async throws -> Source {
        try Task.checkCancellation()
        let wait = TaskWait<Source>()
        post(WaitEnd(wait), make, discard)
        return try await Self.outcome(of: wait, on: self, isolation: isolation) {}
    }

    /// Only the block holds the end of the wait: if the block is dropped, the loop has ended.
    private func post<Source: PortSource>(
        _ end: WaitEnd<Source>,
        _ make: @escaping @Sendable () throws -> Source,
        _ discard: @escaping @Sendable (Source) -> Void
    ) {
        if isOnOwnThread {
            start(end, make, discard)
        } else {
            perform(inModes: [.common]) { self.start(end, make, discard) }
        }
    }

    /// Creates a source and adds it, unless the task was cancelled, on the loop's thread.
    private func start<Source: PortSource>(
        _ end: WaitEnd<Source>,
        _ make: () throws -> Source,
        _ discard: (Source) -> Void
    ) {
        guard !end.isSettled else { return }
        do {
            let source = try make()
            add(source, forMode: .common)
            // The task was cancelled meanwhile, and nobody has the source.
            if !end.settle(.success(source)) { discard(source) }
        } catch {
            end.settle(.failure(error))
        }
    }

    /// Waits for the only event of a source that the loop's thread creates.
    func onlyEvent<Source: PortSource, Event: Sendable>(
        isolation: isolated (any Actor)?,
        of make: @escaping @Sendable (TaskWait<Event>) throws -> Source
    ) async throws -> Event {
        let wait = TaskWait<Event>()
        let source = try await started(isolation: isolation) { try make(wait) }
        return try await Self.outcome(of: wait, on: self, isolation: isolation) {
            UVRunLoop.invalidate(source)
        }
    }
}
