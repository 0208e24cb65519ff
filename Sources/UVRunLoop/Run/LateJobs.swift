/// Performs the jobs of loops that have ended, one at a time, on one thread of the process.
///
/// The thread exists only while there are such jobs. Without it, a task that waits for one of them
/// would wait forever.
///
/// > Threading: Any thread.
final class LateJobs: Sendable {
    private struct State {
        var jobs: [LateJob] = []
        /// Whether a thread performs the jobs.
        var isServed = false
    }

    private static let shared = PerProcess { LateJobs() }
    private let state = Guarded(State())

    /// Queues jobs, in order.
    ///
    /// The caller may hold the lock of a ``JobQueue``.
    static func add(_ jobs: [LateJob]) {
        let late = shared.current
        let isServed = late.state.withLock { state in
            state.jobs += jobs
            return exchange(&state.isServed, with: true)
        }
        if !isServed { late.startThread() }
    }

    private func startThread() {
        // If no thread can be started, one of the runtime's own does it.
        PosixThread.startDetached("late-jobs", performAll) { work in Task.detached { work() } }
    }

    private func performAll() {
        while let jobs = takeAll() {
            for job in jobs { job.perform() }
        }
    }

    private func takeAll() -> [LateJob]? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.isServed = false
                return nil
            }
            return exchange(&state.jobs, with: [])
        }
    }
}

/// A job of a loop that has ended.
struct LateJob: Sendable {
    let entry: JobQueue.Entry
    /// Retained, because the job runs under unowned references to them; no loop is needed for a job
    /// of a task executor.
    let loop: UVRunLoop?
    let taskExecutor: LoopTaskExecutor

    func perform() {
        guard let loop else { return entry.job.run(preferring: taskExecutor) }
        loop.perform(entry)
    }
}
