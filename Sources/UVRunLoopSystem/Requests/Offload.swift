import UVRunLoop

extension UVRunLoop {
    /// Does work on libuv's thread pool, and delivers the result on the loop's thread.
    ///
    /// For work that blocks or takes long, which would keep the loop from serving anything else.
    /// The work is queued when the source is created. The result is delivered once, in the modes to
    /// which the source was added; until then it waits. The source is valid during that call and
    /// invalid afterwards, and when the thread of its loop ends.
    ///
    /// The pool belongs to the process, and also resolves names. It has four threads unless the
    /// environment variable `UV_THREADPOOL_SIZE` says otherwise; further work waits in a queue
    /// without a limit. The process does not exit before work in progress is finished, unless the
    /// work itself calls `exit` (see <doc:System>).
    ///
    /// See *Input Sources* in Apple's guide.
    ///
    /// > Threading: Any thread, except where a member says otherwise.
    public final class Offload<Value: Sendable>: PortSource {
        /// The link between the source and its loop.
        public let link: PortLink

        /// Queues work for the calling thread's loop.
        ///
        /// Add the source to the loop with
        /// ``UVRunLoop/add(_:forMode:file:line:)-(UVRunLoop.PortSource,_,_,_)``.
        ///
        /// > Threading: The thread whose loop serves the source. Traps if the loop runs in virtual
        /// > time.
        ///
        /// - Parameters:
        ///   - order: The position among sources that become ready at the same time; lower ones are
        ///     served first.
        ///   - work: Called once, on a thread of the pool, which then releases it, unless it ends
        ///     before this initialiser, which then does. Work that is withdrawn before it begins is
        ///     released by a thread of the pool or the loop's.
        ///   - handler: Called once, on the loop's thread, with the value or the error of the work.
        /// - Throws: ``SystemError`` if the loop has ended, or if the pool's threads cannot be
        ///   started.
        @available(*, noasync, message: "Use offload(_:), which waits for the value.")
        public convenience init(
            order: Int = 0,
            work: @escaping @Sendable () throws -> Value,
            handler: @escaping (Offload, Result<Value, any Error>) -> Void
        ) throws(SystemError) {
            try self.init(order, work, handler)
        }

        init(
            _ order: Int,
            _ work: @escaping @Sendable () throws -> Value,
            _ handler: @escaping (Offload, Result<Value, any Error>) -> Void
        ) throws(SystemError) {
            let inbox = EventInbox<Result<Value, any Error>>()
            let request = try WorkRequest {
                let result = Result(catching: work)
                return { inbox.append(result) }
            }
            let receiver = EventReceiver<Offload, Result<Value, any Error>>(
                inbox,
                [request],
                handler,
                isLast: { _ in true }
            )
            link = receiver.makeLink(order: order, warnsAs: "an offload")
        }

        /// Whether the call of the handler is still to come or in progress.
        public var isValid: Bool { link.isValid }

        /// Removes the source from its loop permanently.
        ///
        /// Work that has not begun is never done. Work that has begun goes on, and its result is
        /// dropped. Called on the loop's thread, no call of the handler begins after this has
        /// returned.
        ///
        /// > Threading: Any thread.
        public func invalidate() { UVRunLoop.invalidate(self) }

        deinit { link.receiver.releaseHandler() }
    }

    /// Does work on libuv's thread pool; see ``Offload``.
    ///
    /// The result arrives in the common modes, which it keeps from being empty.
    ///
    /// > Threading: Any task; on the loop's thread it resumes there.
    ///
    /// - Parameters:
    ///   - isolation: The caller's actor.
    ///   - work: Called once, on a thread of the pool.
    /// - Returns: The value of the work.
    /// - Throws: The error of the work; ``SystemError`` if it cannot be queued; `CancellationError`
    ///   if the task is cancelled, which also withdraws work that has not begun;
    ///   ``PerformError/threadEnded`` if the loop's thread ends first or has ended.
    public func offload<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await onlyEvent(isolation: isolation) { (wait: TaskWait<Value>) in
            let end = WaitEnd(wait)
            return try Offload<Value>(0, work) { end.settle($1) }
        }
    }
}
