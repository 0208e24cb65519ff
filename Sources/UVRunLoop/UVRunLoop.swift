import Synchronization

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
    /// The thread that runs the loop.
    let thread: ThreadIdentity
    let home: HomeThread
    /// The timers in the loop refer to it by its anchor.
    let anchor = LoopAnchor.take()
    /// The number of forks between the first process and the one that created the loop.
    let generation = ForkCount.current
    /// Whether the loop is ``main``, which serves the main dispatch queue.
    let isMain: Bool

    /// The modes and their items, for any thread.
    private let engine: Guarded<Engine>
    /// The engine's summary, read without the lock.
    private let publishedState = Publication<SystemWord>()
    /// Queued blocks.
    private let inbox = Guarded(Inbox())
    /// Whether blocks are queued, read without the lock.
    private let holdsBlock = FlagPublication<SystemWord>()
    /// Queued perform requests.
    let performs = Guarded(PerformQueue())
    /// Counts the announcements of ports: events that the kernel does not report.
    let announcementCount = Atomic<UInt64>(0)
    /// Counts the changes to what the kernel is to watch.
    let watchRequestCount = Atomic<UInt64>(0)
    /// The state of the innermost run that other threads may read and change.
    let innermostRun = RunState()
    /// Whether the loop sleeps, and whether something has changed since it last checked.
    let word: WakeState
    /// The part of the driver that any thread may use.
    let remote: any LoopRemote
    /// Whether the latest pass of any run, nested ones included, served a port.
    ///
    /// Only the loop's thread reads and writes it, once per pass.
    let servedPort = Atomic<Bool>(false)
    /// The number of passes begun, nested runs included; only the loop's thread writes it.
    let passCount = Atomic<UInt64>(0)
    /// The number of polls by the driver; only the loop's thread writes it.
    let pollCount = Atomic<Int64>(0)
    /// State that only the loop's thread uses.
    let local: LoopBound<LocalState>

    /// State of the loop that outlives a run.
    struct LocalState {
        /// `nil` once the loop has ended.
        var driver: (any LoopDriver)?
        var mode: Mode?
        var nestingLevel = 0
        /// The in-process port whose handler is innermost on the stack.
        var servedReceiver: (any PortReceiver)?
        /// Reused storage for batches of sources.
        var spareSources: [Engine.SignalledSource] = []
        /// Reused storage for batches of blocks.
        var spareBatch: [Inbox.Entry] = []
    }

    init(
        home: HomeThread,
        word: WakeState,
        driver: any LoopDriver,
        isMain: Bool = false
    ) {
        self.home = home
        thread = home.identity
        self.isMain = isMain
        self.word = word
        remote = driver.remote
        engine = Guarded(Engine())
        local = LoopBound(LocalState(driver: driver), owner: thread)
        anchor.attach(self)
        // The main thread's loop may be created by another thread.
        home.setLoop(self)
    }

    /// The location stored in the timers that are in this loop.
    var location: TimerOwner.Location { TimerOwner.Location(anchor) }

    // MARK: Locked state

    /// Lends the engine while its lock is held, and publishes its summary.
    ///
    /// The body must not call user code or another loop. Values that it removes are returned, and
    /// released after the lock.
    func withEngine<Result>(_ body: (inout Engine) -> sending Result) -> sending Result {
        checkProcess()
        return engine.withLock { engine in
            let result = body(&engine)
            publishedState.publish(engine.summary.bits)
            return result
        }
    }

    /// Lends the inbox while its lock is held; the rules of ``withEngine(_:)`` apply.
    func withInbox<Result>(_ body: (inout Inbox) -> sending Result) -> sending Result {
        checkProcess()
        return inbox.withLock { inbox in
            let result = body(&inbox)
            holdsBlock.publish(inbox.count > 0)
            return result
        }
    }

    /// Whether a block is queued for any mode.
    var mayHoldBlocks: Bool { holdsBlock.latest }

    private var summary: EngineSummary {
        EngineSummary(bits: publishedState.latest)
    }

    /// Whether a source is signalled in any mode.
    var mayHoldSignals: Bool { summary.mayHoldSignals }

    /// Whether a port may be ready in any mode.
    var mayHoldReady: Bool { summary.mayHoldReady }

    /// Whether the kernel may have to watch more for any mode.
    var mayHoldUnwatched: Bool { summary.mayHoldUnwatched }

    /// Increases with every change to the modes' items.
    var publishedVersion: UInt64 { summary.version }

    /// Whether a view is up to date, and no mode has anything to serve or to watch.
    func hasNothingToDo(since view: Engine.View) -> Bool {
        summary == .nothingToDo(version: view.version)
    }

    /// Wakes a sleeping loop after a change to the engine, so that it recomputes its sleep.
    func contentsDidChange() {
        checkProcess()
        if word.markChanged() { remote.wake() }
    }

    /// Wakes a sleeping loop after a block was queued.
    func blocksDidChange() {
        checkProcess()
        if word.markChangedUnlessMarked() { remote.wake() }
    }

    /// Wakes a sleeping loop after a port was added or has changed its events.
    func watchesDidChange() {
        watchRequestCount.add(1, ordering: .releasing)
        contentsDidChange()
    }

    /// Wakes a sleeping loop after a port has announced an event.
    func portDidAnnounce() {
        announcementCount.add(1, ordering: .relaxed)
        contentsDidChange()
    }

    // MARK: The rules

    package var isOnOwnThread: Bool { thread == .current }

    func checkThread() {
        checkProcess()
        require(
            isOnOwnThread,
            """
            This run loop belongs to another thread, and only that thread may run it. Reach it \
            with perform(_:).
            """
        )
    }

    func checkProcess() {
        Self.checkProcess(isCurrent: generation == ForkCount.current)
    }

    static func checkProcess(isCurrent isThisOne: Bool) {
        require(
            isThisOne,
            "This run loop belongs to the parent process. Use UVRunLoop.current, a new loop."
        )
    }

    /// Traps if an item is in another loop; timers, observers and ports are in one at a time.
    func checkOwner(_ owner: UVRunLoop?, _ kind: StaticString) {
        require(
            owner == nil || owner === self,
            "This \(kind) is in another run loop. Remove it from all modes of that one first."
        )
    }
}
