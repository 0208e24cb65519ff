extension UVRunLoop {
    // MARK: On this loop's thread

    /// Asks the loop to perform a block, as one of its input sources.
    ///
    /// All requests that wait when a pass comes to its custom sources are performed by it, in the
    /// order in which they were made; those made meanwhile wait for the next pass. They are one
    /// source of the loop, of order 0: while a request waits, its modes are not empty, and
    /// performing requests ends a run that returns after a source was handled. In that they
    /// differ from the blocks of ``perform(inModes:_:)``. The source removes itself when it has
    /// performed what waited.
    ///
    /// From another thread, a request wakes the loop. One may be made before the loop first runs.
    /// After the loop's thread has ended it is dropped.
    ///
    /// See *Cocoa Perform Selector Sources* in Apple's guide.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; whichever runs first performs it. Traps
    ///     when there is none.
    ///   - target: The object on whose behalf it is, kept until then; see
    ///     ``cancelPerformRequests(target:)``.
    ///   - key: Tells apart requests of one target; see ``cancelPerformRequests(target:key:)``.
    ///   - block: The work.
    /// - Returns: What cancels the request.
    @discardableResult
    public func requestPerform(
        inModes modes: [Mode] = commonModes,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping @Sendable () -> Void
    ) -> PerformRequest {
        let content = PerformQueue.Content(
            Self.checked(modes),
            target: target.map { PerformQueue.Target(object: $0, key: key) },
            block
        )
        return PerformRequest(enqueue(content), in: self)
    }

    /// Has the loop's thread perform a block, and waits until it has.
    ///
    /// On the loop's own thread the block runs at once. From another it is a request like those of
    /// ``requestPerform(inModes:target:key:_:)``, and the calling thread sleeps until it is done:
    /// its own loop does not run meanwhile. Two threads that wait for each other wait for ever, and
    /// so does whoever waits for a thread that neither ends nor runs its loop in one of the modes.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - modes: The modes in which the block may run; traps when there is none.
    ///   - target: The object on whose behalf it is, kept until then.
    ///   - key: Tells apart requests of one target.
    ///   - block: The work.
    /// - Returns: What the block returned.
    /// - Throws: What the block threw; ``PerformError`` when the loop's thread ended first, or the
    ///   request was cancelled.
    @available(*, noasync, message: "A wait keeps its thread.")
    @discardableResult
    public func performAndWait<Value: Sendable>(
        inModes modes: [Mode] = commonModes,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        checkProcess()
        let modes = Self.checked(modes)
        if isOnOwnThread { return try block() }
        let reply = PerformReply(block)
        let content = PerformQueue.Content(
            modes,
            target: target.map { PerformQueue.Target(object: $0, key: key) },
            waiter: reply
        ) { reply.perform() }
        guard enqueue(content) != nil else { throw PerformError.threadEnded }
        return try reply.wait()
    }

    // MARK: After a delay

    /// Asks the loop to perform a block after a while.
    ///
    /// A timer of the loop does it, so it counts as no source, and keeps its modes from being
    /// empty. The delay is counted from now by the loop's clock. Without one the block is still not
    /// performed at once but, if this is called on the loop's thread, by a later pass. Blocks that
    /// are due together are performed in the order of their dates and then of the requests.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - delay: The time to wait at least; negative ones are none.
    ///   - modes: The modes in which the block may run; traps when there is none.
    ///   - target: The object on whose behalf it is, kept until then; see
    ///     ``cancelPerformRequests(target:)``.
    ///   - key: Tells apart requests of one target; see ``cancelPerformRequests(target:key:)``.
    ///   - block: The work.
    /// - Returns: What cancels the request.
    @discardableResult
    public func requestPerform(
        after delay: Duration,
        inModes modes: [Mode] = defaultMode,
        target: (any AnyObject & Sendable)? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping @Sendable () -> Void
    ) -> PerformRequest {
        let content = PerformQueue.Content(
            Self.checked(modes),
            target: target.map { PerformQueue.Target(object: $0, key: key) },
            block
        )
        return PerformRequest(enqueue(content, after: delay), in: self)
    }

    /// Asks the calling thread's loop to perform, after a while, a block that need not be
    /// `Sendable`.
    ///
    /// Otherwise as ``requestPerform(after:inModes:target:key:_:)``.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    ///
    /// - Parameters:
    ///   - delay: The time to wait at least; negative ones are none.
    ///   - modes: The modes in which the block may run; traps when there is none.
    ///   - target: The object on whose behalf it is, kept until then.
    ///   - key: Tells apart requests of one target.
    ///   - block: The work.
    /// - Returns: What cancels the request.
    @available(*, noasync, message: "A task may go on on another thread.")
    @discardableResult
    public func requestPerformLocally(
        after delay: Duration,
        inModes modes: [Mode] = defaultMode,
        target: AnyObject? = nil,
        key: (any Hashable & Sendable)? = nil,
        _ block: @escaping () -> Void
    ) -> PerformRequest {
        checkThread()
        let bound = HomeBound(ThreadBound(block))
        let content = PerformQueue.Content(
            Self.checked(modes),
            target: target.map { PerformQueue.Target(bound: $0, key: key) }
        ) { bound.current?() }
        return PerformRequest(enqueue(content, after: delay), in: self)
    }

    // MARK: Cancelling

    /// Cancels every request of a target that waits in this loop, delayed ones and those that
    /// somebody waits for included.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter target: The object that was named with the requests.
    /// - Returns: How many were cancelled.
    @discardableResult
    public func cancelPerformRequests(target: AnyObject) -> Int {
        cancelRequests(requests(of: target).map(\.ticket))
    }

    /// Cancels every request of a target that was made with an equal key.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameters:
    ///   - target: The object that was named with the requests.
    ///   - key: The key; `nil` means those requests that were made without one.
    /// - Returns: How many were cancelled.
    @discardableResult
    public func cancelPerformRequests(
        target: AnyObject,
        key: (any Hashable & Sendable)?
    ) -> Int {
        // Compared here, under no lock: what it means to be equal is the caller's code.
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
        return performs.withLock { $0.requests(of: identity, keyHash: keyHash) }
    }

    // MARK: Modes

    // Made once: a new array with every request would cost more than the request.
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

extension PerformQueue.Target {
    fileprivate init(object: any AnyObject & Sendable, key: (any Hashable & Sendable)?) {
        self.init(identity: ObjectIdentifier(object), object: object, key: key)
    }

    /// Keeps an object that need not be `Sendable`.
    fileprivate init(bound object: AnyObject, key: (any Hashable & Sendable)?) {
        self.init(
            identity: ObjectIdentifier(object),
            object: HomeBound(ThreadBound(object)),
            key: key
        )
    }
}
