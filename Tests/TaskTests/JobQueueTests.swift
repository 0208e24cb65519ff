import Testing

@testable import UVRunLoop

/// The queue of a loop's jobs, by itself.
@Suite(.timeLimit(.minutes(15))) struct JobQueueTests {
    /// The job may release what kept the queue, before the call returns.
    @Test func aCallFromAnotherThreadKeepsTheQueueUntilItReturns() async {
        let executor = Catcher { job in
            let here = SleepingLoop(of: .current)
            let elsewhere = SleepingLoop(of: ThreadIdentity(number: 0))
            for loop in [here, elsewhere] { loop.enqueue(job) }
            #expect(elsewhere.references > here.references)
        }
        await Task(executorPreference: executor) {}.value
    }
}

/// A loop that a job wakes, and that never performs it.
private final class SleepingLoop: LoopRemote {
    private let queue = Guarded<JobQueue?>(nil)
    /// The strong references to its queue while a job was waking it.
    private let count = Guarded<UInt>(0)
    var references: UInt { count.withLock { $0 } }

    init(of thread: ThreadIdentity) {
        let wakeState = WakeState()
        precondition(wakeState.fallAsleep())
        let queue = JobQueue(wakeState: wakeState, remote: self, thread: thread)
        self.queue.withLock { $0 = queue }
    }

    func enqueue(_ job: UnownedJob) {
        guard let queue = queue.withLock({ $0 }) else { return }
        queue.enqueue(JobQueue.Entry(job: job, context: .task)) { _ in
            preconditionFailure("The queue is closed.")
        }
        self.queue.withLock { $0 = nil }
    }

    func wake() {
        queue.withLock { queue in
            guard let queue else { return }
            count.withLock { $0 = _getRetainCount(queue) }
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
