extension UVRunLoop {
    /// How many jobs are performed where blocks are, before the pass goes on.
    static let maxJobsAtOnce = 1_024

    // MARK: Where blocks are performed

    /// Performs queued jobs, those that they enqueue included, up to ``maxJobsAtOnce``.
    ///
    /// None is performed in a run that is nested in a job, because the actor of that job must not
    /// be entered again.
    @inline(__always)
    func performJobs(_ run: inout Run) {
        guard mayServeJob(run) else { return }
        // A handler may have made the mode a common one.
        refresh(&run)
        if run.view.isCommon { performJobsThatWait(&run) }
    }

    @inline(never)
    private func performJobsThatWait(_ run: inout Run) {
        let local = run.local
        var count = 0
        while count < Self.maxJobsAtOnce, !isEndedAtOnce {
            guard let entry = jobs.takeNext(&local.jobs) else { break }
            local.runningJob = entry
            calling(.job) { perform(entry) }
            count += 1
        }
        local.runningJob = nil
        if LoopTracing.isOn, count > 0 { trace(.performedJobs(count)) }
        userCodeMayHaveRun(&run)
    }

    @inline(__always)
    func perform(_ entry: JobQueue.Entry) {
        switch entry.executors {
        case .actor: entry.job.run(isolatedTo: self)
        case .task: entry.job.run(preferring: taskExecutorObject)
        case .actorInTask: entry.job.run(isolatedTo: self, preferring: taskExecutorObject)
        }
    }

    /// Whether jobs are queued that a run performs: in the common modes only, and not in a job.
    ///
    /// The run's view of its mode is up to date.
    @inline(__always)
    func holdsJob(_ run: borrowing Run) -> Bool {
        run.view.isCommon && mayServeJob(run)
    }

    /// Whether jobs are queued that a run performs if its mode is a common one.
    @inline(__always)
    private func mayServeJob(_ run: borrowing Run) -> Bool {
        run.servesJobs && jobs.holdsJob(&run.local.jobs)
    }

    /// Whether jobs are queued that a run in a common mode would perform, if it began now.
    ///
    /// > Threading: The loop's own thread.
    func mayPerformJobs(_ local: LocalState) -> Bool {
        !local.isInJob && jobs.holdsJob(&local.jobs)
    }

    // MARK: The end

    /// Passes the jobs that are left on to the late-jobs thread, and all further ones.
    ///
    /// Called on the loop's thread when the loop has ended and nothing of it runs any more.
    func passOnJobs() {
        checkProcess()
        let local = local.here
        jobs.close(after: &local.jobs) {
            LateJob(entry: $0, loop: self, taskExecutor: taskExecutorObject)
        }
    }
}
