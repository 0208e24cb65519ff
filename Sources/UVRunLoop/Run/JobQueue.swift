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
        var entries = JobList()
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

    /// Takes all jobs, in exchange for an empty list.
    @inline(__always)
    func takeAll(into entries: inout JobList) {
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
            let left = taken + exchange(&state.entries, with: JobList()).all
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

/// Jobs in order, in storage that is used again.
///
/// What was removed stays in the storage, as it owns nothing: `Array` takes 80 instructions to
/// remove it, a third of what a job costs.
struct JobList {
    private var storage: [JobQueue.Entry] = []
    private(set) var count = 0

    var all: ArraySlice<JobQueue.Entry> { storage[..<count] }

    subscript(index: Int) -> JobQueue.Entry {
        @inline(__always)
        get { storage[index] }
    }

    @inline(__always)
    mutating func append(_ entry: JobQueue.Entry) {
        if count < storage.count {
            storage[count] = entry
        } else {
            storage.append(entry)
        }
        count += 1
    }

    @inline(__always)
    mutating func removeAll() { count = 0 }
}

/// Jobs that a loop has taken from its queue, and performs in turn.
struct JobBatch {
    private var entries = JobList()
    private var next = 0

    /// The jobs that were not performed.
    var rest: ArraySlice<JobQueue.Entry> { entries.all[next...] }
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
        entries.removeAll()
        next = 0
        queue.takeAll(into: &entries)
    }
}
