/// The modes, the items, the queued blocks and the queued jobs of a loop, for any thread.
///
/// Each is behind a lock of its own. What the loop asks about them in every pass is published, and
/// read without the lock: a published value may be newer than the loop has noticed, never older
/// than the change it has been woken for.
struct LoopContents: ~Copyable, Sendable {
    private let engine = Guarded(Engine())
    private let publishedSummary = Publication<SystemWord>()
    private let inbox = Guarded(Inbox())
    private let holdsBlock = FlagPublication<SystemWord>()
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
    borrowing func withEngine<Result>(
        _ body: (inout Engine) -> sending Result
    ) -> sending Result {
        engine.withLock { engine in
            let result = body(&engine)
            publishedSummary.publish(engine.summary.bits)
            return result
        }
    }

    /// Lends the inbox while its lock is held; the rules of ``withEngine(_:)`` apply.
    @inline(__always)
    borrowing func withInbox<Result>(
        _ body: (inout Inbox) -> sending Result
    ) -> sending Result {
        inbox.withLock { inbox in
            let result = body(&inbox)
            holdsBlock.publish(inbox.count > 0)
            return result
        }
    }

    /// Whether a block is queued for any mode.
    var mayHoldBlocks: Bool { holdsBlock.latest }

    /// The latest published summary of the engine.
    var summary: EngineSummary { EngineSummary(bits: publishedSummary.latest) }
}
