// MARK: The executor of actors

extension UVRunLoop: SerialExecutor {
    /// Queues a job of an actor whose executor is this loop.
    ///
    /// The Swift runtime calls it; other code has no jobs to enqueue. Jobs are performed where
    /// blocks are, after the blocks, in the common modes, in the order in which they were enqueued.
    /// A run that is nested in a job performs none. Jobs that are left when the loop's thread ends,
    /// and later ones, are performed on a thread that the library starts for them.
    ///
    /// > Threading: Any thread.
    ///
    /// - Parameter job: The job.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executors = local.ifHere?.executorsOnActor(of: job) ?? .actor
        let entry = JobQueue.Entry(job: job, executors: executors)
        // The queue keeps itself as long as it has to.
        withUnretained(contents.jobs) { $0.enqueue(entry, loop: self, taskExecutor: nil) }
    }

    /// Traps unless the caller is on the loop's thread.
    ///
    /// The Swift runtime calls it for `assumeIsolated` and `preconditionIsolated` of an actor whose
    /// executor is this loop. Handlers and blocks of the loop are isolated to such an actor.
    ///
    /// > Threading: Any thread; traps except on the loop's own, before the loop has ended.
    public func checkIsolated() {
        require(
            isIsolating,
            """
            This code is isolated to an actor whose executor is a run loop, and is called on \
            another thread than the loop's. Reach the actor with await, or the loop with \
            perform(_:).
            """
        )
    }

    /// Whether the caller is on the loop's thread.
    ///
    /// The Swift runtime calls it before it calls ``checkIsolated()``.
    ///
    /// It is also true for a handler of a run that is nested in a job: isolation does not exclude
    /// that such a handler comes in the middle of the job's synchronous work, as with the main
    /// actor and `RunLoop`.
    ///
    /// > Threading: Any thread.
    public func isIsolatingCurrentContext() -> Bool? { isIsolating }

    /// False after the end of the loop, also on the late-jobs thread, which the runtime knows as
    /// the executor of a job that it performs.
    private var isIsolating: Bool { isOnOwnThread && !jobs.isClosed }
}

extension LocalState {
    /// Guesses under which executors a job of an actor is to be performed.
    ///
    /// The runtime does not say whether the task prefers the loop. If the task is being performed
    /// and is enqueued again, the runtime has found that its executors have changed: it most likely
    /// prefers the loop if it was performed without a preference for it, and does not, or does not
    /// any more, if it was performed with one. A wrong guess costs a job.
    @inline(__always)
    fileprivate func executorsOnActor(of job: UnownedJob) -> JobExecutors {
        guard let runningJob, runningJob.job.bits == job.bits else { return .actor }
        return runningJob.executors == .actorInTask ? .actor : .actorInTask
    }
}

// MARK: The executor that tasks prefer

extension UVRunLoop {
    /// The loop as an executor for tasks: `Task(executorPreference: loop.taskExecutor)`.
    ///
    /// A task that prefers it runs its nonisolated code on the loop's thread, and resumes there
    /// without a detour through the concurrency runtime's thread pool. It does not replace an
    /// actor's own executor, which is the loop itself.
    ///
    /// Always the same object. It does not keep the loop alive. After the end of the loop its jobs
    /// are performed on a thread that the library starts for them.
    ///
    /// > Threading: Any thread.
    public var taskExecutor: any TaskExecutor { taskExecutorObject }
}
