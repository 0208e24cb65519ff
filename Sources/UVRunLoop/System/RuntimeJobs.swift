// Unsafe calls of the concurrency runtime. They run a job, once for each job that was enqueued, on
// an executor that the caller retains; and they tell who the caller is.

extension UnownedJob {
    /// The address of the job: equal for one task whenever it is enqueued.
    var bits: UInt { unsafe unsafeBitCast(self, to: UInt.self) }

    /// Runs a job of an actor.
    func run(isolatedTo executor: some SerialExecutor) {
        unsafe callOutToJob(self, executor.asUnownedSerialExecutor())
    }

    /// Runs a job of a task that prefers an executor.
    func run(preferring executor: some TaskExecutor) {
        unsafe callOutToJob(self, executor.asUnownedTaskExecutor())
    }

    /// Runs a job of an actor in a task that prefers an executor.
    func run(isolatedTo actor: some SerialExecutor, preferring executor: some TaskExecutor) {
        unsafe callOutToJob(
            self,
            actor.asUnownedSerialExecutor(),
            executor.asUnownedTaskExecutor()
        )
    }
}

// Never inlined, so that backtraces and profiles show the callouts.

@inline(never)
private func callOutToJob(_ job: UnownedJob, _ actor: UnownedSerialExecutor) {
    unsafe job.runSynchronously(on: actor)
}

@inline(never)
private func callOutToJob(_ job: UnownedJob, _ task: UnownedTaskExecutor) {
    unsafe job.runSynchronously(on: task)
}

@inline(never)
private func callOutToJob(
    _ job: UnownedJob,
    _ actor: UnownedSerialExecutor,
    _ task: UnownedTaskExecutor
) {
    unsafe job.runSynchronously(isolatedTo: actor, taskExecutor: task)
}

/// The task that the calling code belongs to.
package enum CurrentTask {
    /// Whether there is one.
    static var exists: Bool { unsafe withUnsafeCurrentTask { unsafe $0 != nil } }

    /// How long a thread may block before it checks whether its task was cancelled, in nanoseconds.
    private static let checkInterval: Int64 = 20_000_000

    /// Returns until when a thread may block that waits until a date; without a task, all the time.
    package static func nextCheck(before date: Int64) -> Int64 {
        exists ? min(date, monotonicNow().addingSaturating(checkInterval)) : date
    }
}
