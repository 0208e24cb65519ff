// Unsafe calls of the concurrency runtime: they run a job, once for each time that it was enqueued,
// on an executor that the caller retains.

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
