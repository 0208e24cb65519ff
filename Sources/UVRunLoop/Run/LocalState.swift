/// The state that only the loop's own thread reads and writes, and that outlives a run.
///
/// ``LoopBound`` gives it out on that thread alone, and each run keeps it on its stack: within a
/// run nothing is checked again, except by code that is also called outside of one: perform
/// requests, tracing and the release of a descriptor.
///
/// Assign to its properties with `=` only: with the thread sanitizer, Swift 6.3.1 crashes on
/// compound assignments to them.
final class LocalState {
    /// Closed once the loop has ended.
    private let driver: any LoopDriver
    /// Whether the driver is closed, and the loop runs no more.
    @safe @exclusivity(unchecked) var isDriverClosed = false
    /// The index of the innermost run's mode; `nil` if the loop is not running.
    @safe @exclusivity(unchecked) var modeIndex: Int?
    @safe @exclusivity(unchecked) var nestingLevel = 0
    /// The number of passes begun, nested runs included.
    @safe @exclusivity(unchecked) var passCount: UInt64 = 0
    /// The number of the pass that is under way: of the innermost one.
    @safe @exclusivity(unchecked) var pass: UInt64 = 0
    /// Whether the call that has just ended does not count: the source of perform requests found
    /// none, or a timer has put its request off to a later pass.
    @safe @exclusivity(unchecked) var callHandledNothing = false
    /// Whether the loop was lent, so that each pass has to poll; for the driver there may be
    /// foreign handles then.
    @safe @exclusivity(unchecked) var isLent = false
    /// The number of polls and waits by the driver.
    @safe @exclusivity(unchecked) var pollCount: Int64 = 0
    /// Whether the latest pass of any run, nested ones included, served a port.
    @safe @exclusivity(unchecked) var servedPort = false
    /// The in-process port whose handler is innermost on the stack.
    @safe @exclusivity(unchecked) var receiverBeingCalled: (any PortReceiver)?
    /// The beginning of the latest run, if the next one may begin with the same.
    @safe @exclusivity(unchecked) var cachedBeginning = Run.CachedBeginning()
    /// Reused storage for batches of sources.
    @safe @exclusivity(unchecked) var spareSources: [Engine.SignalledSource] = []
    /// The blocks that were taken from the queue.
    @safe @exclusivity(unchecked) var blocks = LocalBlocks()
    /// The jobs that were taken from the queue.
    @safe @exclusivity(unchecked) var jobs = JobQueue.Reader()
    /// The job that is being performed.
    @safe @exclusivity(unchecked) var runningJob: JobQueue.Entry?

    /// The tracers' record of the loop; `nil` before there were any.
    @safe @exclusivity(unchecked) var traced: TracedLoop?

    /// Whether a job is being performed; runs that are nested in it perform none.
    var isInJob: Bool { runningJob != nil }

    init(driver: any LoopDriver) { self.driver = driver }

    /// Lends the driver, which as a property's value would be retained for each call.
    @inline(__always)
    func withDriver<Result>(_ body: (any LoopDriver) -> Result) -> Result { body(driver) }
}

/// The queued blocks that have reached the loop's thread.
struct LocalBlocks: ~Copyable {
    /// How far the queue was taken.
    var reader = BlockQueue.Reader()
    /// Blocks that were taken from the queue and wait for their modes.
    var waiting = WaitingBlocks()
    /// The end of the queue at which nothing was left of it, and no block waited.
    var emptyUpTo = BlockQueue.nothing
    /// Reused storage for batches.
    var spareBatch = BlockBatch()
}

/// Blocks that wait for their modes.
typealias WaitingBlocks = ModeQueue<BlockItem.Content>
