/// The jobs of tasks and actors that the Swift runtime has enqueued on a loop.
///
/// It outlives the loop: a task executor refers to it, but not to the loop. After the loop's end it
/// passes its jobs on to the ``LateJobs``, so no job is ever dropped.
///
/// > Threading: Any thread.
final class JobQueue: Sendable {
    /// A queued job.
    struct Entry {
        let job: UnownedJob
        let context: JobContext
    }

    private struct State {
        var entries: [Entry] = []
        var isClosed = false
    }

    private let state = Guarded(State())
    private let holdsJob = FlagPublication<SystemWord>()
    private let word: WakeState
    private let remote: any LoopRemote
    private let generation = ForkCount.current

    init(word: WakeState, remote: any LoopRemote) {
        self.word = word
        self.remote = remote
    }

    /// Queues a job, and wakes the loop if it sleeps.
    ///
    /// Allocates nothing, except when the queue grows.
    ///
    /// - Parameters:
    ///   - entry: The job.
    ///   - late: Makes the late job of an entry, if the loop has ended.
    @inline(__always)
    func enqueue(_ entry: Entry, orLate late: (Entry) -> LateJob) {
        UVRunLoop.checkProcess(isCurrent: generation == ForkCount.current)
        let isQueued = state.withLock { state in
            guard !state.isClosed else { return false }
            state.entries.append(entry)
            holdsJob.publish(true)
            return true
        }
        guard isQueued else { return LateJobs.add([late(entry)]) }
        if word.markChangedUnlessMarked() { remote.wake() }
    }

    /// Whether jobs are queued, or were taken and not performed.
    ///
    /// While jobs are being performed it may be `false`.
    var mayHoldJobs: Bool { holdsJob.latest }

    /// Takes all jobs, in exchange for an empty array.
    func takeAll(into entries: inout [Entry]) {
        state.withLock { state in
            swap(&state.entries, &entries)
            holdsJob.publish(false)
        }
    }

    /// Publishes that the loop still has jobs that it took.
    func someAreLeft() {
        state.withLock { _ in holdsJob.publish(true) }
    }

    /// Whether the jobs were passed on.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Passes on the jobs, and all further ones, at the end of the loop.
    ///
    /// - Parameters:
    ///   - taken: Jobs that the loop took and did not perform.
    ///   - late: Makes the late job of an entry.
    func close(after taken: ArraySlice<Entry>, _ late: (Entry) -> LateJob) {
        // Under the lock, so that no later job overtakes them.
        state.withLock { state in
            state.isClosed = true
            holdsJob.publish(false)
            let left = taken + exchange(&state.entries, with: [])
            if !left.isEmpty { LateJobs.add(left.map(late)) }
        }
    }
}

/// The executors under which a job runs.
///
/// The runtime lets a task go on without a new job as long as both stay the same.
enum JobContext: UInt8 {
    /// The loop as the executor of an actor.
    case actor
    /// The loop's task executor, which the task prefers.
    case task
    /// Both: an actor on the loop, in a task that prefers the loop.
    case actorInTask
}

/// Jobs that a loop has taken from its queue, and performs in turn.
struct JobBatch {
    private var entries: [JobQueue.Entry] = []
    private var next = 0

    /// The jobs that were not performed.
    var rest: ArraySlice<JobQueue.Entry> { entries[next...] }
    var isEmpty: Bool { next == entries.count }

    @inline(__always)
    mutating func takeNext() -> JobQueue.Entry? {
        guard next < entries.count else { return nil }
        defer { next += 1 }
        return entries[next]
    }

    /// Takes all jobs of a queue; the batch must be empty.
    @inline(__always)
    mutating func refill(from queue: JobQueue) {
        entries.removeAll(keepingCapacity: true)
        next = 0
        queue.takeAll(into: &entries)
    }
}
