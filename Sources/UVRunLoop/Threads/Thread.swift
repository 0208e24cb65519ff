extension UVRunLoop {
    /// A thread whose loop runs until the thread is told to stop.
    ///
    /// The thread runs its loop in the default mode, which it keeps from being empty. Give it work
    /// as items that are added to ``runLoop``, as blocks and as perform requests, from any thread
    /// and as soon as the initialiser has returned. ``UVRunLoop/stop()`` of its loop ends one run,
    /// and the thread begins another; ``stop(afterQueuedWork:)`` ends the thread.
    ///
    /// The thread retains this object until it is stopped, whether or not other code does. Work on
    /// the thread finds the object as ``current``.
    ///
    /// > Threading: Any thread.
    public final class Thread: Sendable {
        private enum Joining: Sendable { case notYet, underWay, done }

        /// The name that the thread was started with.
        public let name: String?
        /// The thread's loop.
        ///
        /// It exists until the thread ends; calls to it have no effect afterwards.
        public let runLoop: UVRunLoop
        private let system: PosixThread
        private let joining = ConditionGuarded(Joining.notYet)

        /// Starts a thread, and returns when it has its loop.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - name: A name for debuggers, which show its first 15 bytes.
        ///   - stackSize: The size of the stack in bytes, at least 128 KiB, rounded up to whole
        ///     pages; `nil` for the system's default, usually 8 MiB.
        ///   - setUp: Called on the thread before its loop runs, possibly after this has returned,
        ///     and even if the thread was stopped before.
        /// - Throws: ``RunLoopError`` if the system has no threads, descriptors or memory left, or
        ///   a thread cannot have a stack of this size.
        @available(*, noasync, message: "Waits for the thread. Await UVRunLoop.withThread(_:).")
        public convenience init(
            name: String? = nil,
            stackSize: Int? = nil,
            setUp: (@Sendable () -> Void)? = nil
        ) throws(RunLoopError) {
            try self.init(name, stackSize, setUp, on: UVRunLoop.makeUVDriver)
        }

        /// Starts a thread whose loop is on a driver of the caller's choice.
        ///
        /// The driver is created on the thread, before this returns.
        package init(
            _ name: String?,
            _ stackSize: Int?,
            _ setUp: (@Sendable () -> Void)?,
            on makeDriver: @escaping DriverMaker
        ) throws(RunLoopError) {
            let start = Start(name: name, setUp: setUp, makeDriver: makeDriver)
            system = try RunLoopError.translating(
                try PosixThread(stackSize: stackSize) { start.main() },
                of: .thread
            )
            self.name = name
            do {
                runLoop = try start.awaitLoop()
            } catch {
                system.join()
                throw error
            }
            start.begin(with: self)
        }

        /// The calling thread, if it was started by this class and has not ended.
        ///
        /// > Threading: Any thread.
        @available(*, noasync, message: "A task may change threads. Keep the Thread itself.")
        public static var current: Thread? {
            ThreadRecord.current.starter as? Thread
        }

        // MARK: The end

        /// Ends the thread, and with it every run of its loop, nested and future ones included.
        ///
        /// A stop is never lost, whenever it is called: before the first run, between two runs,
        /// from another thread or from work on this one. A run ends with its current pass; no
        /// handler is interrupted.
        ///
        /// Queued work is the blocks and the requests without a delay for the default mode or the
        /// common modes. The thread either performs it in one last pass, during which nested runs
        /// end at once, or discards it; in that case, no queued work begins any more, and no
        /// delayed request. Timers and sources that the pass has found are still called.
        ///
        /// Sockets of the default mode that are to end when their queues are sent
        /// (`SocketPort.endSending()`, `SocketPort.invalidateWhenDrained()`) are queued work, too.
        /// After the last pass the thread runs its loop in the default mode, timers and other
        /// sources included, until they have sent everything or failed. Only their peers limit how
        /// long that takes. ``stop(limit:)`` limits it, and so does another call of this with
        /// `false`.
        ///
        /// A second call has no effect, unless only the second discards the queued work.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter afterQueuedWork: Whether the work that is queued now is performed first.
        public func stop(afterQueuedWork: Bool = true) {
            runLoop.end(afterQueuedWork ? .afterQueuedWork : .atOnce)
        }

        /// Ends the thread after its queued work, but lets none begin after a limit, and drops what
        /// sockets have not sent by then.
        ///
        /// It is ``stop(afterQueuedWork:)`` with `true` and, when the limit has passed, with
        /// `false`. The limit is a date of the loop's clock. It interrupts no handler. Of several
        /// limits the first counts.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter limit: How long the thread may go on from now.
        public func stop(limit: Duration) {
            // The date is checked between blocks, requests and jobs; the request ends a sleep that
            // waits for sockets.
            runLoop.requestPerform(after: limit) { [runLoop] in runLoop.end(.atOnce) }
            runLoop.end(RunEnd(limit: runLoop.time(after: limit)))
        }

        /// Whether the thread was told to stop.
        ///
        /// Long-running work can poll this property.
        ///
        /// > Threading: Any thread.
        public var isStopping: Bool {
            runLoop.isStopping
        }

        /// Waits until the thread and its loop have ended.
        ///
        /// Does not stop the thread. May be called several times, and by several threads at once.
        /// The calling thread's loop does not run meanwhile: if work on the thread waits for the
        /// calling thread, `cancel` handlers included, neither returns.
        ///
        /// > Threading: Any thread but this one itself, where it traps.
        @available(*, noasync, message: "A wait keeps its thread. Await UVRunLoop.withThread(_:).")
        public func join() { _ = join(until: .max) }

        /// Waits until the thread and its loop have ended, or a limit has passed.
        ///
        /// Otherwise the same as ``join()``.
        ///
        /// > Threading: Any thread but this one itself, where it traps.
        ///
        /// - Parameter limit: How long to wait, in real time; zero or less not to wait.
        /// - Returns: Whether the thread has ended.
        @available(*, noasync, message: "A wait keeps its thread. Await UVRunLoop.withThread(_:).")
        public func join(limit: Duration) -> Bool {
            join(until: monotonicNow().addingSaturating(limit.nanosecondsRoundedUp))
        }

        /// The system allows one thread at a time to wait: if that one gives up, another takes
        /// over.
        private func join(until date: Int64) -> Bool {
            runLoop.checkProcess()
            require(
                !runLoop.isOnOwnThread,
                "A thread cannot wait for its own end. Call join() on another thread."
            )
            let found = joining.wait(until: date) { state -> Joining? in
                if state == .notYet {
                    state = .underWay
                    return .notYet
                }
                return state == .done ? .done : nil
            }
            guard found == .notYet else { return found == .done }
            let hasEnded = system.join(until: date)
            if hasEnded { ThreadRecord.releaseJoined(of: runLoop) }
            joining.withLock { $0 = hasEnded ? .done : .notYet }
            joining.wakeAll()
            return hasEnded
        }

        /// Whether the thread was started by this process, not by one that has forked it.
        package var isOfThisProcess: Bool { runLoop.identity.isThisProcess }

        deinit {
            // A forked child has a copy of this object, but not the thread.
            guard isOfThisProcess else { return }
            if joining.withLock({ $0 }) == .notYet { system.detach() }
        }
    }
}

/// The state that a new thread and its starter share.
private final class Start: Sendable {
    private let name: String?
    private let setUp: Guarded<(@Sendable () -> Void)?>
    private let makeDriver: DriverMaker
    private let loop = ConditionGuarded<Result<UVRunLoop, RunLoopError>?>(nil)
    /// The thread's object, until the thread takes it.
    private let thread = ConditionGuarded<UVRunLoop.Thread?>(nil)

    init(
        name: String?,
        setUp: (@Sendable () -> Void)?,
        makeDriver: @escaping DriverMaker
    ) {
        self.name = name
        self.setUp = Guarded(setUp)
        self.makeDriver = makeDriver
    }

    func awaitLoop() throws(RunLoopError) -> UVRunLoop {
        guard let result = loop.wait(until: .max, for: { $0 }) else {
            fail("Bug in UVRunLoop: a thread did not say whether it has a loop.")
        }
        return try result.get()
    }

    /// Passes the thread its object and lets it continue.
    func begin(with thread: UVRunLoop.Thread) {
        self.thread.withLock { $0 = thread }
        self.thread.wakeAll()
    }

    /// The thread's main function.
    func main() {
        if let name { PosixThread.nameCurrent(name) }
        let result = Result { () throws(RunLoopError) in
            try UVRunLoop.prepareCurrent(on: makeDriver)
        }
        if let name, case .success(let loop) = result { loop.identity.label.setFallback(name) }
        loop.withLock { $0 = result }
        loop.wakeAll()
        guard case .success(let loop) = result else { return }
        let record = ThreadRecord.current
        record.starter = self.thread.wait(until: .max) { $0.take() }
        setUp.withLock { exchange(&$0, with: nil) }?()
        run(loop)
        let last = exchange(&record.starter, with: nil)
        withExtendedLifetime(last) {}
    }

    private func run(_ loop: UVRunLoop) {
        let keeper = UVRunLoop.Source(sendablePerform: { _ in })
        loop.add(keeper, forMode: .default)
        // A stop of the loop, rather than of the thread, only ends one run.
        while !loop.runState.isStoppedForGood { loop.run() }
        if !loop.isEndedAtOnce { loop.performQueuedWork() }
    }
}
