import UVRunLoop

/// The requests and messages of tasks.
extension RemoteConnection {
    /// Has the socket served for a request in a loop.
    ///
    /// - Returns: The source that does it, until ``leave(_:_:)``.
    func join(_ request: TaskRequest, in loop: UVRunLoop) -> RequestSource {
        let (source, isNew) = state.withLock { state in
            let (source, isNew) = state.requestSource(for: loop, of: self)
            source.insert(request)
            return (source, isNew)
        }
        if hasQueuedFrames { source.watchForRoom() }
        if isNew { loop.add(source, forMode: .common) }
        return source
    }

    /// Ends what ``join(_:in:)`` has begun.
    func leave(_ request: TaskRequest, _ source: RequestSource) {
        // One that has not come into its loop is told of the end of neither.
        let isInLoop = source.link.loop != nil
        let isOver = state.withLock { state in
            source.remove(request)
            if source.hasRequests || isInLoop && state.end == nil { return false }
            state.remove(source)
            return true
        }
        if isOver { UVRunLoop.invalidate(source) }
    }

    /// Has a source leave its loop, unless requests wait.
    func removeUnused(_ source: RequestSource) {
        let isUnused = state.withLock { state in
            if source.hasRequests { return false }
            state.remove(source)
            return true
        }
        if isUnused { UVRunLoop.invalidate(source) }
    }

    /// Has a source serve no further requests.
    func remove(_ source: RequestSource) { state.withLock { $0.remove(source) } }

    /// Whether frames wait for room.
    var hasQueuedFrames: Bool { state.withLock { !$0.sendQueue.isEmpty } }

    /// Withdraws a frame for which a thread no longer waits.
    ///
    /// If a part of it was sent, the rest of one that was cancelled is still sent, up to a date;
    /// for another reason the connection ends.
    func giveUp(_ queued: FrameQueue.ID, until date: Int64, _ reason: MessagePortError) {
        let isCancelled = reason == .cancelled
        let withdrawal = withdraw(queued, keepingRest: isCancelled)
        guard isCancelled, case .wasPartlySent = withdrawal else { return }
        TaskRequest(queued, on: self).sendRest(until: date)
    }
}
