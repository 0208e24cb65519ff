extension UVRunLoop {
    /// A thread whose loop runs until it is told to stop.
    ///
    /// The thread runs its loop in the default mode, which something keeps from being empty. What
    /// it is to do comes as items that are added to ``runLoop``, as blocks and as requests, from
    /// any thread and from the moment at which the initialiser returns. ``UVRunLoop/stop()`` of
    /// its loop ends one run, and the thread begins another; ``stop(afterQueuedWork:)`` ends the
    /// thread.
    ///
    /// The thread keeps this object while it goes on, which is until it is stopped, whether or
    /// not anybody else keeps it: work on it finds it as ``current``.
    ///
    /// > Threading: Any thread.
    public final class Thread: Sendable {
        private enum Joining { case notYet, underWay }

        /// The name it was started with.
        public let name: String?
        /// The thread's loop.
        ///
        /// It is there until the thread ends; afterwards calls to it do nothing.
        public let runLoop: UVRunLoop
        private let system: PosixThread
        private let joining = Guarded(Joining.notYet)
        private let isGone = Latch()

        /// Starts a thread.
        ///
        /// Returns when the thread has its loop.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameters:
        ///   - name: A name for debuggers and the like. The system shows the first 15 bytes.
        ///   - stackSize: The size of the stack in bytes, at least 128 KiB, rounded up to whole
        ///     pages; `nil` for what the system gives, usually 8 MiB.
        ///   - setUp: Called on the thread before its loop runs, possibly after this has returned.
        ///     A stop does not keep it from being called.
        /// - Throws: ``RunLoopError`` when the system has no threads, descriptors or memory left,
        ///   or gives no thread a stack of this size.
        @available(*, noasync, message: "Waits for the thread.")
        public init(
            name: String? = nil,
            stackSize: Int? = nil,
            setUp: (@Sendable () -> Void)? = nil
        ) throws(RunLoopError) {
            let start = Start(name: name, setUp: setUp)
            do {
                system = try PosixThread(stackSize: stackSize) { start.main() }
            } catch {
                throw RunLoopError(ofThread: error)
            }
            self.name = name
            do {
                runLoop = try start.awaitLoop()
            } catch {
                system.join()
                throw error
            }
            start.begin(with: self)
        }

        /// The calling thread, if it was started by this class and still runs.
        ///
        /// > Threading: Any thread.
        @available(*, noasync, message: "A task may go on on another thread.")
        public static var current: Thread? {
            ThreadRecord.current.starter as? Thread
        }

        // MARK: The end

        /// Ends the thread: every run of its loop, nested ones and those to come included.
        ///
        /// It is never lost, whenever it comes: before the loop runs first, between two runs, from
        /// another thread or from work on this one. A run ends with its present pass; no handler
        /// is interrupted.
        ///
        /// Work is what waits for the default mode or the common ones: blocks, and requests without
        /// a delay. The thread does it in one last pass, during which runs end as soon as they
        /// begin, or lets it be. In that case, nothing that is queued begins any more.
        ///
        /// Sockets of the default mode that were told to end when their queues are sent
        /// (`SocketPort.endSending()`, `SocketPort.invalidateWhenDrained()`) are work, too. After
        /// the last pass the thread runs its loop in the default mode, timers and other sources
        /// included, until they have sent all or have failed. Only their peers limit how long that
        /// takes. To limit it, call this again with `false`, from a timer on this thread for
        /// example.
        ///
        /// A second call makes no difference, unless only the second gives up the queued work.
        ///
        /// > Threading: Any thread.
        ///
        /// - Parameter afterQueuedWork: Whether work that is queued by now is done first.
        public func stop(afterQueuedWork: Bool = true) {
            runLoop.end(afterQueuedWork ? .afterQueuedWork : .atOnce)
        }

        /// Whether the thread was told to stop.
        ///
        /// Lengthy work may ask this.
        ///
        /// > Threading: Any thread.
        public var isStopping: Bool {
            runLoop.isStopping
        }

        /// Waits until the thread has ended, its loop included.
        ///
        /// Does not stop it. May be called several times, and by several threads at once. The
        /// calling thread's loop does not run meanwhile: work on the thread that waits for the
        /// calling one, `cancel` handlers included, waits for ever.
        ///
        /// > Threading: Any thread but this one itself, where it traps.
        @available(*, noasync, message: "A wait keeps its thread.")
        public func join() {
            runLoop.checkProcess()
            require(
                !runLoop.isOnOwnThread,
                "A thread cannot wait for its own end. Call join() on another thread."
            )
            guard beginJoining() else { return isGone.wait() }
            system.join()
            isGone.open()
        }

        /// Whether the caller is the first to want the end of the thread: the system knows it once.
        private func beginJoining() -> Bool {
            joining.withLock { exchange(&$0, with: .underWay) == .notYet }
        }

        deinit {
            // A forked child has a copy of this, but no such thread.
            guard runLoop.generation == ForkCount.current else { return }
            if beginJoining() { system.detach() }
        }
    }
}

/// What a thread and whoever starts it tell each other.
private final class Start: Sendable {
    private let name: String?
    private let setUp: Guarded<(@Sendable () -> Void)?>
    private let loop = Guarded<Result<UVRunLoop, RunLoopError>?>(nil)
    private let hasLoop = Latch()
    /// The thread's object, until the thread takes it.
    private let thread = Guarded<UVRunLoop.Thread?>(nil)
    private let isKnown = Latch()

    init(name: String?, setUp: (@Sendable () -> Void)?) {
        self.name = name
        self.setUp = Guarded(setUp)
    }

    func awaitLoop() throws(RunLoopError) -> UVRunLoop {
        hasLoop.wait()
        guard let result = loop.withLock({ $0 }) else {
            fail("Bug in UVRunLoop: a thread did not say whether it has a loop.")
        }
        return try result.get()
    }

    /// Has the thread go on, which keeps its object from now on.
    func begin(with thread: UVRunLoop.Thread) {
        self.thread.withLock { $0 = thread }
        isKnown.open()
    }

    /// What the thread does.
    func main() {
        if let name { PosixThread.nameCurrent(name) }
        let result = Result { () throws(RunLoopError) in try UVRunLoop.prepareCurrent() }
        loop.withLock { $0 = result }
        hasLoop.open()
        guard case .success(let loop) = result else { return }
        isKnown.wait()
        let record = ThreadRecord.current
        record.starter = thread.withLock { exchange(&$0, with: nil) }
        callSetUp()
        run(loop)
        let last = exchange(&record.starter, with: nil)
        withExtendedLifetime(last) {}
    }

    /// Calls the set-up, and lets it go.
    private func callSetUp() {
        let setUp = setUp.withLock { exchange(&$0, with: nil) }
        setUp?()
    }

    private func run(_ loop: UVRunLoop) {
        let keeper = UVRunLoop.Source(sendablePerform: { _ in })
        loop.add(keeper, forMode: .default)
        // A stop of the loop that is not one of the thread ends one run only.
        while !loop.innermostRun.isEnded { loop.run() }
        if !loop.innermostRun.isEndedAtOnce { loop.performQueuedWork() }
    }
}
