/// The modes, the items, the queued blocks and the queued jobs of a loop, for any thread.
///
/// The engine is behind a lock. What the loop asks about it in every pass is published, and read
/// without the lock: a published value may be newer than the loop has noticed, never older than the
/// change it has been woken for. Senders of blocks and jobs take no lock while the loop is awake,
/// except for a new segment of the queue.
struct LoopContents: ~Copyable, Sendable {
    private let engine = Guarded(Engine())
    private let publishedSummary = Publication<SystemWord>()
    /// Blocks on their way to the loop's thread, which sorts them into their modes.
    let queue = BlockQueue()
    /// The modes that blocks were ever queued for.
    let blockModes = BlockModes()
    /// The queued jobs, which may outlive the loop.
    let jobs: JobQueue
    /// The executor that tasks prefer.
    let taskExecutor: LoopTaskExecutor

    init(jobs: JobQueue) {
        self.jobs = jobs
        taskExecutor = LoopTaskExecutor(jobs)
    }

    /// Lends the engine while its lock is held, and publishes its summary.
    ///
    /// The body must not call user code or another loop. Values that it removes are returned, and
    /// released after the lock.
    @inline(__always)
    borrowing func withEngine<Result: ~Copyable>(
        _ body: (inout Engine) -> sending Result
    ) -> sending Result {
        engine.withLock { engine in
            let result = body(&engine)
            publishedSummary.publish(engine.summary.bits)
            return result
        }
    }

    /// The latest published summary of the engine.
    var summary: EngineSummary { EngineSummary(bits: publishedSummary.latest) }
}
