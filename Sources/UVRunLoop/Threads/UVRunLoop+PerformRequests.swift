extension UVRunLoop {
    // MARK: On this loop's thread

    /// Requests that the loop perform a block, as one of its input sources.
    ///
    /// When a pass comes to its custom sources, it performs all waiting requests in the order in
    /// which they were made; requests made meanwhile wait for the next pass. All requests together
    /// are one source of the loop, of order 0: while one waits, its modes are not empty, and
    /// performing requests ends a run that returns after a source was handled. In that they differ
    /// from the blocks of ``perform(inModes:_:file:line:)``. The source removes itself when it has
    /// performed all requests.
    ///
    /// Called from another thread, this wakes a loop that runs in one of the modes. A request may
    /// be made before the loop first runs. After the loop's thread has ended it is dropped.
    ///
    /// See *Cocoa Perform Selector Sources* in Apple's guide.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run, the common ones if none are given; the
    ///     first of them that runs performs it. Traps if the array is empty.
    ///   - target: An object to cancel the request by, retained until then; see
    ///     ``cancelPerformRequests(target:)``.
    ///   - key: Distinguishes requests of one target; see ``cancelPerformRequests(target:key:)``.
    ///   - block: The work.
    /// - Returns: The request, which can be cancelled.
    @discardableResult
    public func requestPerform(
        inModes modes: [Mode] = commonModes,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping @Sendable () -> Void
    ) -> PerformRequest {
        let target = PerformQueue.Target(target, key)
        let content = PerformQueue.Content(Self.checked(modes), target, block)
        return PerformRequest(enqueue(content), in: self)
    }

    /// Performs a block on the loop's thread, and waits until it has returned.
    ///
    /// On the loop's own thread the block runs at once. On another it is a request like those of
    /// ``requestPerform(inModes:target:key:_:)``, and the calling thread sleeps until it is done;
    /// its own loop does not run meanwhile. Without a limit, two threads that wait for each other
    /// wait forever, and so does a call for a thread that neither ends nor runs its loop in one of
    /// the modes.
    ///
    /// If the limit passes before the block has begun, the request is withdrawn, and the block
    /// never runs. A block that has begun is not interrupted; its result is dropped. The error says
    /// which it was: ``PerformError/timedOut(hasBegun:)``. On the loop's own thread there is no
    /// wait, and so no limit.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run, the common ones if none are given; traps if
    ///     the array is empty.
    ///   - target: An object to cancel the request by, retained until then.
    ///   - key: Distinguishes requests of one target.
    ///   - limit: How long to wait, in real time; `nil` to wait forever.
    ///   - block: The work.
    /// - Returns: The block's result.
    /// - Throws: The block's error; ``PerformError`` if the loop's thread ended first, the request
    ///   was cancelled, or the limit has passed.
    @available(*, noasync, message: "A wait keeps its thread. Await an actor on the loop.")
    @discardableResult
    public func performAndWait<Value: Sendable>(
        inModes modes: [Mode] = commonModes,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        limit: Duration? = nil,
        _ block: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        checkProcess()
        let modes = Self.checked(modes)
        if isOnOwnThread { return try block() }
        let reply = PerformReply(block)
        let target = PerformQueue.Target(target, key)
        let content = PerformQueue.Content(modes, target, waiter: reply) { reply.perform() }
        // Taken first, so that the limit includes the time in which the request is queued.
        let date = limit.map { monotonicNow().addingSaturating($0.nanosecondsRoundedUp) }
        guard let ticket = enqueue(content) else { throw PerformError.threadEnded }
        return try reply.wait(until: date ?? .max) { withdrawRequest(ticket) }
    }

    // MARK: After a delay

    /// Requests that the loop perform a block after a delay.
    ///
    /// A timer of the loop performs it, so it does not count as a source, but keeps its modes from
    /// being empty. The delay starts now, by the loop's clock. Without a delay, the block is still
    /// not performed at once: if this is called on the loop's thread, a later pass performs it.
    /// Blocks that are due together are performed in the order of their dates, then of the
    /// requests.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - delay: The minimum time to wait; a negative delay counts as zero.
    ///   - modes: The modes in which the block may run, the default one if none are given; traps if
    ///     the array is empty.
    ///   - target: An object to cancel the request by, retained until then; see
    ///     ``cancelPerformRequests(target:)``.
    ///   - key: Distinguishes requests of one target; see ``cancelPerformRequests(target:key:)``.
    ///   - block: The work.
    /// - Returns: The request, which can be cancelled.
    @discardableResult
    public func requestPerform(
        after delay: Duration,
        inModes modes: [Mode] = defaultMode,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping @Sendable () -> Void
    ) -> PerformRequest {
        let target = PerformQueue.Target(target, key)
        let content = PerformQueue.Content(Self.checked(modes), target, block)
        return PerformRequest(enqueue(content, after: delay), in: self)
    }

    /// Requests that the calling thread's loop perform a block, which need not be `Sendable`, after
    /// a delay.
    ///
    /// Otherwise the same as ``requestPerform(after:inModes:target:key:_:)``.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - delay: The minimum time to wait; a negative delay counts as zero.
    ///   - modes: The modes in which the block may run, the default one if none are given; traps if
    ///     the array is empty.
    ///   - target: An object to cancel the request by, retained until then.
    ///   - key: Distinguishes requests of one target.
    ///   - block: The work.
    /// - Returns: The request, which can be cancelled.
    @available(*, noasync, message: "A task may go on on another thread. Use requestPerform.")
    @discardableResult
    public func requestPerformLocally(
        after delay: Duration,
        inModes modes: [Mode] = defaultMode,
        target: AnyObject? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping () -> Void
    ) -> PerformRequest {
        checkThread()
        let bound = HomeBound(block)
        let target = PerformQueue.Target(target, retaining: target.map { HomeBound($0) }, key)
        let content = PerformQueue.Content(Self.checked(modes), target) { bound.current?() }
        return PerformRequest(enqueue(content, after: delay), in: self)
    }

    // MARK: Cancelling

    /// Cancels every request of a target in this loop, including delayed ones and those that a
    /// thread waits for.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter target: The target that was passed with the requests.
    /// - Returns: The number of requests that were cancelled.
    @discardableResult
    public func cancelPerformRequests(target: AnyObject) -> Int {
        cancelRequests(requests(of: target).map(\.ticket))
    }

    /// Cancels every request of a target with an equal key.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - target: The target that was passed with the requests.
    ///   - key: The key; `nil` for requests that were made without one.
    /// - Returns: The number of requests that were cancelled.
    @discardableResult
    public func cancelPerformRequests(
        target: AnyObject,
        key: (any Hashable & Sendable)?
    ) -> Int {
        // Compared while no lock is held, because comparing keys calls user code.
        let wanted = key.map { AnyHashable($0) }
        let found = requests(of: target, keyHash: PerformQueue.Target.hash(of: key))
            .filter { $0.key.map { AnyHashable($0) } == wanted }
        return cancelRequests(found.map(\.ticket))
    }

    private func requests(
        of target: AnyObject,
        keyHash: Int? = nil
    ) -> [(ticket: Ticket, key: (any Hashable & Sendable)?)] {
        checkProcess()
        let identity = ObjectIdentifier(target)
        return performQueue.withLock { $0.requests(of: identity, keyHash: keyHash) }
    }

    // MARK: Modes

    // Shared, because a new array for every request would cost more than the request.
    @usableFromInline static let commonModes: [Mode] = [.common]
    @usableFromInline static let defaultMode: [Mode] = [.default]

    private static func checked(_ modes: [Mode]) -> [Mode] {
        require(
            !modes.isEmpty,
            "A request for no mode would never be performed. Name at least one mode."
        )
        guard modes.count > 1 else { return modes }
        return modes.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
