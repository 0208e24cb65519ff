import Synchronization
import UVRunLoop

extension UVRunLoop.ConnectionGroup {
    /// Ends the group: its listeners at once, its connections when they have finished.
    ///
    /// In this order, before the call returns:
    ///
    /// 1. the listeners become invalid, and clients that were not accepted are reset;
    /// 2. the group's goodbye is called for each connection.
    ///
    /// Then, in passes of the loop:
    ///
    /// 3. the connections finish, and each is released when it is invalid;
    /// 4. when the limit has passed, those that are left are invalidated; TCP connections of which
    ///    queued bytes are dropped are reset;
    /// 5. the completion is called.
    ///
    /// The group's ports keep its mode from being empty until then; afterwards nothing of the group
    /// does. Another call shortens the limit, and a limit of zero closes all at once. Its
    /// completion is called, too.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - limit: How long the connections may take, by the loop's clock, in the group's mode; zero
    ///     or less to close them after the goodbye; `nil` for no limit.
    ///   - completion: Called on the loop's thread when no connection is left, never before this
    ///     returns; not called if the loop's thread ends before.
    @available(*, noasync, message: "A task may go on on another thread. Await end(limit:).")
    public func end(limit: Duration?, completion: ((Outcome) -> Void)? = nil) {
        require(
            loop.isOnOwnThread,
            "A group is ended on its loop's thread. Use perform(_:), or await end(limit:)."
        )
        begin(by: date(after: limit), completion.map { HomeBound($0) })
    }

    /// The date of a limit, counted from the call.
    private func date(after limit: Duration?) -> UVRunLoop.Instant? {
        limit.map { loop.instant(after: $0) }
    }

    /// Ends the group as ``end(limit:completion:)`` does, and waits for that.
    ///
    /// If the task is cancelled, the call throws without delay, and the loop closes the connections
    /// that are left. A task that was cancelled before ends the group as with a limit of zero.
    ///
    /// > Threading: Any task. On the loop's thread the end begins in the call, and the task resumes
    /// > there; elsewhere it begins in a pass of the loop in the group's mode.
    ///
    /// - Parameters:
    ///   - limit: How long the connections may take, from the call on; `nil` for no limit.
    ///   - isolation: The caller's actor.
    /// - Returns: How the connections have ended.
    /// - Throws: `CancellationError` if the task is cancelled;
    ///   ``UVRunLoop/PerformError/threadEnded`` if the loop's thread ends before the connections
    ///   do.
    @discardableResult
    public func end(
        limit: Duration?,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Outcome {
        let wait = TaskWait<Outcome>()
        let isCancelled = Task.isCancelled
        if isCancelled { wait.settle(.failure(CancellationError())) }
        let deadline = date(after: isCancelled ? .zero : limit)
        begin(by: deadline, tell: WaitEnd(wait))
        return try await UVRunLoop.outcome(of: wait, on: loop, isolation: isolation) { [self] in
            loop.perform(inModes: [mode]) { self.cut() }
        }
    }

    private func begin(by deadline: UVRunLoop.Instant?, tell end: WaitEnd<Outcome>) {
        guard !loop.isOnOwnThread else { return beginHere(by: deadline, tell: end) }
        loop.perform(inModes: [mode]) { [self] in beginHere(by: deadline, tell: end) }
    }

    // MARK: On the loop's thread

    private func beginHere(by deadline: UVRunLoop.Instant?, tell end: WaitEnd<Outcome>) {
        // Only the loop keeps it, and releases it when it ends.
        let keeper = UVRunLoop.Timer(
            after: .nanoseconds(Int64.max),
            sendableHandler: { _ in withExtendedLifetime(end) {} }
        )
        loop.add(keeper, forMode: mode)
        begin(
            by: deadline,
            HomeBound(sendable: { [weak keeper, weak end] outcome in
                end?.settle(.success(outcome))
                keeper?.invalidate()
            })
        )
    }

    private func begin(
        by deadline: UVRunLoop.Instant?,
        _ completion: ConnectionGroupState.Completion?
    ) {
        if let (listeners, connections) = state.withLock({ $0.begin() }) {
            for listener in listeners { listener.invalidate() }
            for connection in connections { sayGoodbye(to: connection) }
            state.withLock { $0.didBegin() }
        }
        if let completion { state.withLock { $0.ending?.completions.append(completion) } }
        if let deadline { setDeadline(deadline) }
        if state.withLock(\.isDone) { tellLater() }
    }

    /// Begins the end of a connection.
    func sayGoodbye(to connection: UVRunLoop.SocketPort) {
        if connection.isValid { goodbye.current?(connection) }
    }

    private func setDeadline(_ date: UVRunLoop.Instant) {
        guard !state.withLock(\.isDone) else { return }
        guard date > loop.now else { return cut() }
        let timer = UVRunLoop.Timer(
            at: date,
            sendableHandler: { [weak self] _ in self?.cut() }
        )
        state.withLock { $0.set(timer, at: date) }?.invalidate()
        if timer.isValid { loop.add(timer, forMode: mode) }
    }

    /// Closes the connections that are left.
    private func cut() {
        let rest = state.withLock { $0.cut() }
        for connection in rest { connection.invalidate() }
        tellLater()
    }

    // MARK: On any thread

    /// A connection has become invalid.
    func connectionDidClose(_ stream: StreamReceiver, _ failure: UVRunLoop.SocketError?) {
        let (connection, isLast) = state.withLock { $0.remove(stream, failed: failure != nil) }
        withExtendedLifetime(connection) {}
        if isLast { tellLater() }
    }

    /// Tells who waits, once the handler that is being called has returned.
    private func tellLater() {
        let report = Report(self)
        loop.perform(inModes: [mode]) { report.tell() }
    }

    /// What the loop has to tell; if it drops that because it ends, it is only released.
    private final class Report: Sendable {
        private let group: UVRunLoop.ConnectionGroup
        private let isTold = Atomic(false)

        init(_ group: UVRunLoop.ConnectionGroup) { self.group = group }

        func tell() {
            isTold.store(true, ordering: .relaxed)
            group.tell(isCalling: true)
        }

        deinit {
            if !isTold.load(ordering: .relaxed) { group.tell(isCalling: false) }
        }
    }

    /// Calls the completions, or only releases them: they may capture the group.
    private func tell(isCalling: Bool) {
        guard let (outcome, completions, timer) = state.withLock({ $0.takeReport() }) else {
            return
        }
        timer?.invalidate()
        goodbye.release()
        for completion in completions {
            if isCalling { completion.current?(outcome) }
            completion.release()
        }
    }
}
