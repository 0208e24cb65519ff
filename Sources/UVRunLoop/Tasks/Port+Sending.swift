extension UVRunLoop.Port {
    /// Sends a message from a task, which is suspended while the queue is full.
    ///
    /// When there is room, as many waiting tasks are resumed as it is for, those first that have
    /// waited longest. Another sender may take the room before a resumed task, which then waits
    /// again. Nothing is queued before that: a task that is cancelled while it waits has not sent
    /// its message.
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
        var wasResumed = false
        while true {
            // Another task may take the room for which this one was resumed.
            if wasResumed, Task.isCancelled { inbox.wakeTask() }
            try Task.checkCancellation()
            let wait = TaskWait<Void>()
            if let isSent = didPost(inbox.post(message, orWake: wait)) { return isSent }
            try await room(wait, isolation)
            wasResumed = true
        }
    }

    private func room(_ wait: TaskWait<Void>, _ isolation: isolated (any Actor)?) async throws {
        try await UVRunLoop.outcome(of: wait, on: link.loop, isolation: isolation) { [inbox] in
            if !inbox.forget(wait) { inbox.wakeTask() }
        }
    }
}

extension TaskWait: RoomListener where Value == Void {
    func roomMayBeThere() { settle(.success(())) }
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
