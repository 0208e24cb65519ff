import Synchronization

/// Waits for input sources and timers of one thread and handles what they report, in a fixed
/// order.
///
/// Every thread has one loop, made when it is first asked for: ``current`` is the calling
/// thread's, ``main`` the main thread's. Add sources, timers and observers to modes of it, and run
/// it in one of them; a run serves what its mode holds, pass by pass, and sleeps while there is
/// nothing to do. Any handler may run the loop again.
///
/// See *Anatomy of a Run Loop* in Apple's guide.
///
/// > Threading: Running is for the loop's own thread and traps elsewhere. Adding, removing,
/// waking, stopping and
/// handing over blocks is for any thread. After a `fork`, a child must not use a loop of its
/// parent's, and traps when it does; its ``current`` is a new one.
public final class UVRunLoop: Sendable {
    /// Whose loop it is.
    let thread: ThreadIdentity
    let home: HomeThread
    /// Stands for it in the timers that it holds.
    let anchor = LoopAnchor.take()
    /// In which of a family of forked processes it was made.
    let generation = ThreadIdentity.generation
    /// Whether it is ``main``, which serves the main dispatch queue.
    let isMain: Bool

    /// What the loop knows, for any thread.
    private let engine: Guarded<Engine>
    /// The engine's summary, for a look without the lock.
    private let publishedState = Publication<SystemWord>()
    /// Blocks on their way to the loop.
    let blocks = BlockQueue()
    /// Up to where the queue was seen, if no block is left of what came before.
    ///
    /// Only the loop's thread asks.
    let emptyUpTo = Atomic<UInt64>(BlockSegments.noSegment)
    /// The modes that blocks were ever queued for.
    let blockModes = BlockModes()
    /// Requests to perform that wait.
    let performs = Guarded(PerformQueue())
    /// Grows with everything that ports announce by themselves.
    let announcementCount = Atomic<UInt64>(0)
    /// Grows with everything that the kernel is to be asked anew.
    let watchRequestCount = Atomic<UInt64>(0)
    /// The innermost run, as far as other threads may touch it.
    let innermostRun = RunState()
    /// Where sleeping and waking meet.
    let word: WakeState
    /// The driver, for any thread.
    let remote: any LoopRemote
    /// Whether the latest pass, of whatever run, served a port.
    ///
    /// Only the loop's thread asks, once per pass.
    let servedPort = Atomic<Bool>(false)
    /// How many passes the loop has begun, nested ones included, as the loop's thread counts.
    let passCount = Atomic<UInt64>(0)
    /// How often the loop's driver looked, as the loop's thread counts.
    let pollCount = Atomic<Int64>(0)
    /// What only the loop's thread touches.
    let local: LoopBound<LocalState>
    let localBlocks: LoopBound<LocalBlocks>
    /// What the queue of blocks is told of one for the default mode.
    let defaultMark = UVRunLoop.mark(of: Mode.default.number)

    /// What a loop remembers from one run to the next.
    struct LocalState {
        /// `nil` once the loop has ended.
        var driver: (any LoopDriver)?
        var mode: Mode?
        var nestingLevel = 0
        /// The in-process port whose handler is on the stack, the innermost.
        var servedReceiver: (any PortReceiver)?
        /// Storage for the next batch of sources.
        var spareSources: [SignalledSource] = []
    }

    /// The blocks that have come, as far as only the loop's thread touches them.
    struct LocalBlocks: ~Copyable {
        /// How far the queue was taken.
        var reader = BlockQueue.Reader()
        /// Blocks that were taken from the queue and wait for their modes.
        var inbox = Inbox()
        /// Storage for the next batch.
        var spareBatch = BlockBatch()
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
        localBlocks = LoopBound(LocalBlocks(), owner: thread)
        anchor.attach(self)
        // Also where another thread made it.
        home.setLoop(self)
    }

    /// What the timers it holds say of where they are.
    var location: TimerOwner.Location { TimerOwner.Location(anchor) }

    // MARK: Behind the locks

    /// Lends the engine.
    ///
    /// The body calls nobody; what it takes out of the engine is released after the lock.
    func withEngine<Result>(_ body: (inout Engine) -> sending Result) -> sending Result {
        checkProcess()
        return engine.withLock { engine in
            let result = body(&engine)
            publishedState.publish(engine.summary.bits)
            return result
        }
    }

    /// Whether a block waits, for whatever mode.
    ///
    /// > Threading: The loop's own thread.
    var mayHoldBlocks: Bool { blocks.end != emptyUpTo.load(ordering: .relaxed) }

    private var summary: EngineSummary {
        EngineSummary(bits: publishedState.latest)
    }

    /// Whether a source is signalled, in whatever mode.
    var mayHoldSignals: Bool { summary.mayHoldSignals }

    /// Whether a port may be ready, in whatever mode.
    var mayHoldReady: Bool { summary.mayHoldReady }

    /// Whether the kernel may have to be asked for more, for whatever mode.
    var mayHoldUnwatched: Bool { summary.mayHoldUnwatched }

    /// Grows with every change of what the modes hold.
    var publishedVersion: UInt64 { summary.version }

    /// Whether a view still holds, and there is nothing to serve or to watch, in whatever mode.
    func isQuiet(since view: Engine.View) -> Bool { summary == .quiet(version: view.version) }

    /// To be called after the engine was changed: a sleeping loop adjusts to it.
    func contentsDidChange() {
        checkProcess()
        if word.markChanged() { remote.wake() }
    }

    /// To be called after a block came: a sleeping loop adjusts to it.
    func blocksDidChange() {
        if word.markChangedUnlessMarked() { remote.wake() }
    }

    /// To be called after a port was added, or has come to wait for something else.
    func watchesDidChange() {
        watchRequestCount.add(1, ordering: .releasing)
        contentsDidChange()
    }

    /// To be called after a port has announced something: a sleeping loop serves it.
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
            "This run loop belongs to another thread, and only that thread may run it. Reach it with perform(_:)."
        )
    }

    func checkProcess() {
        Self.checkProcess(isCurrent: generation == ThreadIdentity.generation)
    }

    static func checkProcess(isCurrent isThisOne: Bool) {
        require(
            isThisOne,
            "This run loop belongs to the process that forked this one. Use UVRunLoop.current, which is a new one."
        )
    }

    /// Timers, observers and ports are in one loop at a time.
    func checkOwner(_ owner: UVRunLoop?, _ kind: StaticString) {
        require(
            owner == nil || owner === self,
            "This \(kind) is in another run loop. Remove it from all modes of that one first."
        )
    }
}
