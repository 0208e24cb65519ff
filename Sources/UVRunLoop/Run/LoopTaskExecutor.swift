/// A loop as the executor that tasks prefer; see ``UVRunLoop/taskExecutor``.
///
/// It is not the loop itself, because the runtime enqueues a new job whenever one of a task's two
/// executors, for its actor and for itself, changes: with one object for both, each call from one
/// actor of the loop to another would be a job.
///
/// It does not retain the loop.
final class LoopTaskExecutor: TaskExecutor {
    let queue: JobQueue

    init(_ queue: JobQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let entry = JobQueue.Entry(job: UnownedJob(job), executors: .task)
        // The queue keeps itself as long as it has to.
        withUnretained(queue) { $0.enqueue(entry, loop: nil, taskExecutor: self) }
    }
}
