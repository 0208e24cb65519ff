import UVRunLoop

/// The tasks that wait for something of a connection, and bytes that are kept for one of them.
///
/// A part of the connection's state, under its lock.
struct StreamTasks: Sendable {
    typealias SocketError = UVRunLoop.SocketError
    typealias Taker = TaskIntake<[UInt8], SocketError>

    /// The events that a task may wait for, beside bytes.
    enum Milestone: Sendable {
        case connected
        case drained
    }

    struct Wait: Sendable {
        let milestone: Milestone
        let task: TaskWait<Void>
    }

    /// The tasks to resume after a change, without the lock.
    struct Resumptions: Sendable {
        var taker: Taker.Resumption?
        var waits: [(task: TaskWait<Void>, outcome: Result<Void, any Error>)] = []

        /// Resumes the tasks.
        ///
        /// - Returns: Whether there were any.
        func perform() -> Bool {
            taker?.perform()
            for (task, outcome) in waits { task.settle(outcome) }
            return taker != nil || !waits.isEmpty
        }
    }

    /// `nil` while the handler gets the bytes.
    var taker: Taker?
    var waits: [Wait] = []
    /// The error that ends the bytes, when the port has become invalid for it.
    var failure: SocketError?
    /// The group that is notified when the port has become invalid.
    var group: UVRunLoop.ConnectionGroup?
}

extension StreamState {
    // MARK: Bytes

    /// Has a task take the bytes from now on, instead of the handler.
    mutating func beginTaking() {
        guard !resources.isTaken else { return }
        resources.isTaken = true
        makeRoomForTasks()
        var taker = StreamTasks.Taker()
        // Nobody waits yet.
        if resources.descriptor == nil {
            _ = taker.finish(throwing: lifecycle.failure)
        } else if lifecycle.peerDidEnd {
            _ = taker.finish()
        }
        tasks[0].taker = taker
    }

    /// Gives an event to the task that takes the bytes.
    mutating func giveToTask(_ event: Event?) -> StreamTasks.Taker.Resumption? {
        guard resources.isTaken else { return nil }
        switch event {
        case .received(let bytes):
            let resumption = tasks[0].taker?.offer(bytes)
            lifecycle.isHeld = resumption == nil
            return resumption
        case .ended: return tasks[0].taker?.finish()
        case .failed(let error):
            // The port becomes invalid first.
            tasks[0].failure = error
            return nil
        case .connected, .accepted, .drained, nil: return nil
        }
    }

    /// Takes what is there for the task, and has the socket read again.
    mutating func takeForTask() -> (outcome: StreamTasks.Taker.Outcome?, followUp: FollowUp) {
        let outcome = tasks[0].taker?.take()
        return (outcome, resumeReading())
    }

    /// Stores a task that waits for bytes.
    mutating func beginWait(
        _ waiter: StreamTasks.Taker.Waiter
    ) -> (resumption: StreamTasks.Taker.Resumption?, followUp: FollowUp) {
        let resumption = tasks[0].taker?.begin(waiter)
        return (resumption, resumeReading())
    }

    mutating func cancel(_ wait: WaitNumber) -> StreamTasks.Taker.Resumption? {
        tasks[0].taker?.cancel(wait)
    }

    private mutating func resumeReading() -> FollowUp {
        // A task that was cancelled takes nothing.
        guard lifecycle.isHeld, tasks[0].taker?.isFull != true, resources.descriptor != nil
        else { return FollowUp() }
        lifecycle.isHeld = false
        return followUp()
    }

    // MARK: Milestones

    /// Stores a task that waits for a milestone.
    ///
    /// - Returns: The outcome, if there is no need to wait.
    mutating func beginWait(
        for milestone: StreamTasks.Milestone,
        _ task: TaskWait<Void>
    ) -> Result<Void, any Error>? {
        if let outcome = outcome(of: milestone) { return outcome }
        makeRoomForTasks()
        tasks[0].waits.append(StreamTasks.Wait(milestone: milestone, task: task))
        return nil
    }

    mutating func removeWait(_ task: TaskWait<Void>) {
        guard !tasks.isEmpty else { return }
        tasks[0].waits.removeAll { $0.task === task }
    }

    /// Removes the waits that have an outcome.
    mutating func takeSettledWaits() -> [(task: TaskWait<Void>, outcome: Result<Void, any Error>)] {
        guard !tasks.isEmpty, !tasks[0].waits.isEmpty else { return [] }
        var settled: [(task: TaskWait<Void>, outcome: Result<Void, any Error>)] = []
        var rest: [StreamTasks.Wait] = []
        for wait in tasks[0].waits {
            if let outcome = outcome(of: wait.milestone) {
                settled.append((wait.task, outcome))
            } else {
                rest.append(wait)
            }
        }
        tasks[0].waits = rest
        return settled
    }

    private func outcome(of milestone: StreamTasks.Milestone) -> Result<Void, any Error>? {
        guard resources.descriptor != nil else {
            return .failure(lifecycle.failure ?? SocketError(.invalidated))
        }
        switch (milestone, lifecycle.phase) {
        case (.connected, .connected), (.connected, .open): return .success(())
        case (.connected, _): return lifecycle.failure.map { .failure($0) }
        case (.drained, _):
            if let failure = lifecycle.failure { return .failure(failure) }
            return queue.count <= queue.lowMark ? .success(()) : nil
        }
    }

    // MARK: The end

    /// Removes all waits, which fail.
    mutating func takeWaits(
        failing error: any Error
    ) -> [(task: TaskWait<Void>, outcome: Result<Void, any Error>)] {
        guard !tasks.isEmpty else { return [] }
        return exchange(&tasks[0].waits, with: []).map { ($0.task, .failure(error)) }
    }

    /// Fails the tasks of a connection that the kernel refuses to watch; `nil` if a handler has to
    /// be called instead.
    mutating func failTasks(_ error: SocketError) -> StreamTasks.Resumptions? {
        lifecycle.failure = lifecycle.failure ?? error
        guard resources.isTaken else { return nil }
        tasks[0].failure = error
        return StreamTasks.Resumptions(waits: takeWaits(failing: error))
    }

    /// Stores the group that is notified when the port has become invalid, unless there is one.
    ///
    /// - Returns: The group that the connection is in; `nil` if the port is invalid.
    mutating func join(_ group: UVRunLoop.ConnectionGroup) -> UVRunLoop.ConnectionGroup? {
        guard resources.descriptor != nil else { return nil }
        makeRoomForTasks()
        resources.isInGroup = true
        let joined = tasks[0].group ?? group
        tasks[0].group = joined
        return joined
    }

    mutating func takeGroup() -> UVRunLoop.ConnectionGroup? {
        tasks.isEmpty ? nil : exchange(&tasks[0].group, with: nil)
    }

    /// Ends the waits for a port that is invalid.
    mutating func endTasks() -> StreamTasks.Resumptions {
        guard !tasks.isEmpty else { return StreamTasks.Resumptions() }
        let failure = tasks[0].failure
        return StreamTasks.Resumptions(
            taker: tasks[0].taker?.finish(throwing: failure),
            waits: takeSettledWaits()
        )
    }

    private mutating func makeRoomForTasks() {
        if tasks.isEmpty { tasks.append(StreamTasks()) }
    }
}

extension StreamReceiver {
    func beginTaking() { state.withLock { $0.beginTaking() } }
}
