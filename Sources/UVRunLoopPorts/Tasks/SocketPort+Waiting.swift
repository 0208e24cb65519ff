import UVRunLoop

extension UVRunLoop.SocketPort {
    /// Waits until the connection is established.
    ///
    /// It returns at once if it is. The port has to be in a mode of a loop that is run. Its
    /// handler, if it has one, is called as well.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there. Traps for a listener.
    ///
    /// - Parameter isolation: The caller's actor.
    /// - Throws: ``UVRunLoop/SocketError`` if connecting has failed or the port is invalid;
    ///   `CancellationError` if the task is cancelled; ``UVRunLoop/PerformError/threadEnded`` if
    ///   the loop's thread ends first.
    public func connected(isolation: isolated (any Actor)? = #isolation) async throws {
        try await wait(for: .connected, isolation: isolation)
    }

    /// Waits until the send queue is no longer than the low mark.
    ///
    /// It returns at once if it is not. A task that sends much calls it between sends, so that the
    /// queue stays short. The port has to be in a mode of a loop that is run.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there. Traps for a listener.
    ///
    /// - Parameter isolation: The caller's actor.
    /// - Throws: ``UVRunLoop/SocketError`` if the connection is broken or the port is invalid;
    ///   `CancellationError` if the task is cancelled; ``UVRunLoop/PerformError/threadEnded`` if
    ///   the loop's thread ends first.
    public func drained(isolation: isolated (any Actor)? = #isolation) async throws {
        try await wait(for: .drained, isolation: isolation)
    }

    private func wait(
        for milestone: StreamTasks.Milestone,
        isolation: isolated (any Actor)?
    ) async throws {
        try Task.checkCancellation()
        let stream = stream
        let wait = TaskWait<Void>()
        let outcome = stream.state.withLock { $0.beginWait(for: milestone, wait) }
        if let outcome { return try outcome.get() }
        try await UVRunLoop.outcome(of: wait, on: link.loop, isolation: isolation) {
            stream.state.withLock { $0.removeWait(wait) }
        }
    }
}
