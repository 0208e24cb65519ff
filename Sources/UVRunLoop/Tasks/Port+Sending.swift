extension UVRunLoop.Port {
    /// Sends a message from a task, which is suspended while the queue is full.
    ///
    /// As soon as there is room for it, the message is queued, and the task goes on when it can.
    /// Those that have waited longest come first, tasks and blocked threads alike. A task that is
    /// cancelled before that has not sent its message; one that is cancelled later has.
    ///
    /// > Threading: Any task, also on the thread of the port's own loop; there it resumes on it.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - isolation: The caller's actor.
    /// - Returns: Whether the message was queued: `false` if the port is or becomes invalid.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sendWhenThereIsRoom(
        _ message: UVRunLoop.PortMessage,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        checkProcess()
        try Task.checkCancellation()
        let wait = TaskWait<Bool>()
        switch inbox.post(message, orWait: wait) {
        case .ended(let outcome): return didPost(outcome) ?? false
        case .waits(let number):
            // Threads that wait may have left room.
            handOverRoom()
            return try await UVRunLoop.outcome(
                of: wait,
                on: link.loop,
                isolation: isolation,
                endedByCancelling: { [inbox] in inbox.forget(number) }
            )
        }
    }
}

extension TaskWait: WaitingSender where Value == Bool {
    var isTask: Bool { true }

    func endWait(isSent: Bool) { settle(.success(isSent)) }

    func checkWait() {}
}

extension UVRunLoop.TypedPort {
    /// Sends a message from a task, as ``UVRunLoop/Port/sendWhenThereIsRoom(_:isolation:)`` does.
    ///
    /// > Threading: Any task, also on the thread of the port's own loop.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - isolation: The caller's actor.
    /// - Returns: Whether the message was queued: `false` if the port is or becomes invalid.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sendWhenThereIsRoom(
        _ message: Message,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        let message = UVRunLoop.PortMessage(components: [.value(message)])
        return try await port.sendWhenThereIsRoom(message, isolation: isolation)
    }
}
