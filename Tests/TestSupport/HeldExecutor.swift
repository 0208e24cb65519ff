import Synchronization
import UVRunLoop

/// Performs no job of its tasks before a test says so.
package final class HeldExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]?>([])
    private let arrival = Signal()
    private let performed = Mutex(0)

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = jobs.withLock { jobs in
            jobs?.append(job)
            return jobs != nil
        }
        isHeld ? arrival.send() : perform(job)
    }

    /// Waits for a job, and performs it on this thread.
    package func performNext() {
        let number = performed.withLock { performed in
            performed += 1
            return performed
        }
        arrival.wait(times: number)
        if let job = jobs.withLock({ $0?.removeFirst() }) { perform(job) }
    }

    /// Performs what waits, and from now on every job at once.
    package func release() {
        for job in jobs.withLock({ exchange(&$0, with: nil) }) ?? [] { perform(job) }
    }

    private func perform(_ job: UnownedJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
