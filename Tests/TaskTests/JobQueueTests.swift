import Testing

@testable import UVRunLoop

/// The queue of a loop's jobs, by itself.
@Suite(.timeLimit(.minutes(15))) struct JobQueueTests {
    /// The job may release what kept the queue, before the call returns.
    ///
    /// In a debug build the compiler keeps it anyway.
    @Test func theCallThatQueuesAJobKeepsTheQueueUntilItReturns() async {
        let executor = Catcher { job in
            let loop = SleepingLoop()
            loop.enqueue(job)
            #expect(loop.references > loop.referencesBefore)
        }
        await Task(executorPreference: executor) {}.value
    }
}

/// A loop that a job wakes, and that never performs it.
private final class SleepingLoop: LoopRemote {
    private let queue = Guarded<JobQueue?>(nil)
    /// The strong references to its queue before a job woke it, and meanwhile.
    private let counts = Guarded<(UInt, UInt)>((0, 0))
    var referencesBefore: UInt { counts.withLock { $0.0 } }
    var references: UInt { counts.withLock { $0.1 } }

    init() {
        let wakeState = WakeState()
        precondition(wakeState.fallAsleep())
        let queue = JobQueue(wakeState: wakeState, remote: self)
        self.queue.withLock { $0 = queue }
    }

    func enqueue(_ job: UnownedJob) {
        guard let queue = queue.withLock({ $0 }) else { return }
        let entry = JobQueue.Entry(job: job, executors: .task)
        let executor = LoopTaskExecutor(queue)
        counts.withLock { $0.0 = _getRetainCount(queue) }
        withUnretained(queue) { $0.enqueue(entry, loop: nil, taskExecutor: executor) }
        self.queue.withLock { $0 = nil }
    }

    func wake() {
        queue.withLock { queue in
            guard let queue else { return }
            counts.withLock { $0.1 = _getRetainCount(queue) }
        }
    }

    // MARK: What nothing calls

    var now: Int64 { 0 }
    func release(_ descriptor: CInt, unless isWanted: () -> Bool) {}
    func makeNonblocking(_ descriptor: CInt, if isWanted: () -> Bool) {}
    func releaseAll() {}
}

/// Passes each job to a body, and then performs it.
private final class Catcher: TaskExecutor {
    private let body: @Sendable (UnownedJob) -> Void

    init(_ body: @escaping @Sendable (UnownedJob) -> Void) { self.body = body }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        body(job)
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
