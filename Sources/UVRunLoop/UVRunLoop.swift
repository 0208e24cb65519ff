/// Waits for the input sources and timers of one thread, and calls their handlers in a fixed order.
///
/// Every thread has one loop, created on first use: ``current`` is the calling thread's, ``main``
/// the main thread's. Add sources, timers and observers to modes of the loop, then run it in one of
/// the modes. A run serves the items of its mode, pass by pass, and sleeps while there is nothing
/// to do. Any handler may run the loop again.
///
/// See *Anatomy of a Run Loop* in Apple's guide.
///
/// > Threading: Running is for the loop's own thread and traps elsewhere. Adding, removing, waking,
/// > stopping and queuing blocks is for any thread. After a `fork`, the child must not use a loop
/// > of its parent's, and traps when it does; the child's ``current`` is a new loop.
public final class UVRunLoop: Sendable {
    /// Which thread of which process it belongs to, and what it is called.
    let identity: LoopIdentity
    /// The modes, their items, the queued blocks and jobs.
    let contents: LoopContents
    /// Queued perform requests.
    let performQueue = Guarded(PerformQueue())
    /// Whether the loop runs, and whether its innermost run was stopped.
    let runState = RunState()
    /// Ends its sleep.
    let waker: LoopWaker
    /// State that only the loop's thread uses.
    let local: LoopBound<LocalState>

    init(
        home: HomeThread,
        wakeState: WakeState,
        driver: any LoopDriver,
        isMain: Bool = false
    ) {
        identity = LoopIdentity(home: home, isMain: isMain)
        waker = LoopWaker(wakeState, driver.remote)
        contents = LoopContents(jobs: JobQueue(wakeState: wakeState, remote: driver.remote))
        local = LoopBound(LocalState(driver: driver), owner: home.identity)
        EnvironmentRecorder.begin()
        identity.anchor.attach(self)
        // The main thread's loop may be created by another thread.
        home.setLoop(self)
    }

    var home: HomeThread { identity.home }
    package var thread: ThreadIdentity { identity.home.identity }
    var isMain: Bool { identity.isMain }
    var wakeState: WakeState { waker.state }
    package var remote: any LoopRemote { waker.remote }

    /// The location stored in the items that are in this loop.
    var location: ItemOwner.Location { ItemOwner.Location(identity.anchor) }

    // MARK: Contents

    /// Lends the engine while its lock is held; see ``LoopContents/withEngine(_:)``.
    func withEngine<Result: ~Copyable>(
        _ body: (inout Engine) -> sending Result
    ) -> sending Result {
        checkProcess()
        return contents.withEngine(body)
    }

    /// The jobs of tasks and actors.
    var jobs: JobQueue { contents.jobs }
    var taskExecutorObject: LoopTaskExecutor { contents.taskExecutor }

    /// A summary of the engine's contents, read without its lock.
    var summary: EngineSummary { contents.summary }

    // MARK: What its items ask of it

    /// Wakes a sleeping loop after a change to its contents, so that it recomputes its sleep.
    @inline(__always)
    func contentsDidChange() {
        checkProcess()
        if !isMarkedForItself { markContentsAsChanged() }
    }

    /// Whether this is the loop's own thread, and the contents are marked as changed.
    ///
    /// A change by that thread needs no second mark: the thread itself clears the first one later,
    /// and checks the contents after that. This saves an atomic operation for all but the first of
    /// the changes that a handler makes.
    private var isMarkedForItself: Bool {
        @inline(__always)
        get { wakeState.isMarkedAsChanged && ThreadRecord.isCurrentLoop(self) }
    }

    @inline(never)
    private func markContentsAsChanged() { waker.contentsDidChange() }

    /// Called after a change to a timer: as ``contentsDidChange()``, but a sleep that ends before
    /// the timer's date goes on.
    ///
    /// - Parameter date: The timer's date, before or after the change: the sooner one. While the
    ///   timer is in the loop, or invalid, it may be read after the change: a later change reports
    ///   itself.
    @inline(__always)
    func timersDidChange(soonest date: Int64) {
        checkProcess()
        if !isMarkedForItself { markTimersAsChanged(soonest: date) }
    }

    @inline(never)
    private func markTimersAsChanged(soonest date: Int64) {
        waker.timersDidChange(soonest: date, version: summary.version)
    }

    /// Whether the loop accepts nothing any more, because its thread is ending or has ended.
    package var hasEnded: Bool { contents.withEngine { $0.isClosed } }

    /// Wakes a sleeping loop after a port was added to a mode, or waits for more events.
    func portWasAdded() { waker.portWasAdded() }

    /// Wakes a sleeping loop after a port has announced an event.
    func portDidAnnounce() { waker.portDidAnnounce() }

    /// Ends the loop's current sleep, or the next one.
    ///
    /// The loop then makes another pass, which finds signalled sources. A wake-up that is pending
    /// when a pass begins is cleared; that pass checks everything anyway. Has no effect after the
    /// end of the loop's thread.
    ///
    /// Makes no system call while the loop is awake. Not async-signal-safe: do not call it in a
    /// signal handler.
    ///
    /// > Threading: Any thread.
    public func wakeUp() {
        checkProcess()
        waker.wakeUp()
    }

    /// The current time of the loop's clock, in nanoseconds.
    var time: Int64 {
        @inline(__always)
        get { waker.now }
    }

    /// Returns the later of a date and the current time.
    @inline(__always)
    func time(notBefore date: Instant) -> Int64 { waker.time(notBefore: date.nanoseconds) }

    /// The word that ends every run.
    var endAddress: WordAddress { runState.endAddress }

    /// Lends the driver; returns `nil` if the loop has ended.
    ///
    /// > Threading: The loop's own thread; traps elsewhere.
    func withDriver<Result>(_ body: (any LoopDriver) -> Result) -> Result? {
        let local = localState()
        return local.isDriverClosed ? nil : local.withDriver(body)
    }

    /// Has each pass poll from now on, and so call foreign callbacks in the run that they belong to.
    func willLend() {
        let local = localState()
        guard !local.isLent else { return }
        local.isLent = true
        guard local.nestingLevel > 0, !local.isDriverClosed else { return }
        // Nothing replaces the next poll of a run under way, and nothing is expected of it.
        pollForExpected(local)
    }

    // MARK: The rules

    package var isOnOwnThread: Bool { identity.isCurrentThread }

    /// Traps on another thread than the loop's; names the place of the caller.
    @inline(__always)
    func checkThread(file: StaticString = #fileID, line: UInt = #line) {
        checkProcess()
        if !isOnOwnThread { failThreadCheck(file, line) }
    }

    /// Returns what only the loop's thread may touch; traps on another one, like
    /// ``checkThread(file:line:)``.
    @inline(__always)
    func localState(file: StaticString = #fileID, line: UInt = #line) -> LocalState {
        checkProcess()
        let local = local.here { failThreadCheck(file, line) }
        // Another thread may have made it after the main thread's record.
        if isMain { ThreadRecord.adopt(self) }
        return local
    }

    @inline(never)
    private func failThreadCheck(_ file: StaticString, _ line: UInt) -> Never {
        fail(
            """
            \(Caller(file, line, "run loop", label: label).subject) belongs to another thread, and \
            only that thread may do this. Reach it with perform(_:).
            """,
            file: file,
            line: line
        )
    }

    package func checkProcess() {
        Self.checkProcess(isCurrent: identity.isThisProcess)
    }

    static func checkProcess(isCurrent isThisOne: Bool) {
        require(
            isThisOne,
            "This run loop belongs to the parent process. Use UVRunLoop.current, a new loop."
        )
    }
}
