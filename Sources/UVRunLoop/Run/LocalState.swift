/// What only the loop's own thread reads and writes, and what outlives a run.
///
/// ``LoopBound`` gives it out on that thread alone, and each run keeps it on its stack: within a
/// run nothing is checked again.
final class LocalState {
    /// `nil` once the loop has ended.
    @safe @exclusivity(unchecked) var driver: (any LoopDriver)?
    /// The mode of the innermost run.
    @safe @exclusivity(unchecked) var mode: UVRunLoop.Mode?
    @safe @exclusivity(unchecked) var nestingLevel = 0
    /// The number of passes begun, nested runs included.
    @safe @exclusivity(unchecked) var passCount: UInt64 = 0
    /// The number of polls by the driver.
    @safe @exclusivity(unchecked) var pollCount: Int64 = 0
    /// Whether the latest pass of any run, nested ones included, served a port.
    @safe @exclusivity(unchecked) var servedPort = false
    /// The in-process port whose handler is innermost on the stack.
    @safe @exclusivity(unchecked) var servedReceiver: (any PortReceiver)?
    /// Reused storage for batches of sources.
    @safe @exclusivity(unchecked) var spareSources: [Engine.SignalledSource] = []
    @safe @exclusivity(unchecked) var blocks = LocalBlocks()

    init(driver: any LoopDriver) { self.driver = driver }
}

/// The queued blocks that have reached the loop's thread.
struct LocalBlocks: ~Copyable {
    /// How far the queue was taken.
    var reader = BlockQueue.Reader()
    /// Blocks that were taken from the queue and wait for their modes.
    var inbox = Inbox()
    /// The end of the queue at which nothing was left of it, nor in the inbox.
    var emptyUpTo = BlockSegments.noSegment
    /// Reused storage for batches.
    var spareBatch = BlockBatch()
}
