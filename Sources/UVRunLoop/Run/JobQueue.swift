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

    fileprivate typealias Queue = SlotQueue<SystemWord, QueueSegments<UnownedJob>>

    private let queue = Queue()
    /// Whether the jobs were passed on; held while they are, so that no later job overtakes them.
    private let closing = Guarded(false)
    private let word: WakeState
    private let remote: any LoopRemote
    private let generation = ForkCount.current

    init(word: WakeState, remote: any LoopRemote) {
        self.word = word
        self.remote = remote
    }

    /// Queues a job, and wakes the loop if it sleeps.
    ///
    /// Takes no lock and allocates nothing, except when a segment of the queue is full.
    ///
    /// - Parameters:
    ///   - entry: The job.
    ///   - late: Makes the late job of an entry, if the loop has ended.
    @inline(__always)
    func enqueue(_ entry: Entry, orLate late: (Entry) -> LateJob) {
        UVRunLoop.checkProcess(isCurrent: generation == ForkCount.current)
        guard queue.post(entry.job, mark: entry.context.mark) else {
            return closing.withLock { _ in LateJobs.add([late(entry)]) }
        }
        if word.markChangedUnlessMarked() { remote.wake() }
    }

    /// Whether the jobs were passed on.
    var isClosed: Bool { closing.withLock(\.self) }

    // MARK: The loop's thread

    /// The jobs that the loop has taken from its queue, and performs in turn.
    struct Taken {
        fileprivate var entries = JobList()
        fileprivate var next = 0
        /// How far the queue was taken.
        fileprivate var reader = Queue.Reader()
        /// The end of the queue at which nothing was left of it.
        fileprivate var emptyUpTo = Queue.nothing

        fileprivate var isEmpty: Bool { next == entries.count }
    }

    /// Whether a job waits to be performed.
    @inline(__always)
    func holdsJob(_ taken: inout Taken) -> Bool { !taken.isEmpty || refill(&taken) }

    /// The next job to be performed.
    @inline(__always)
    func takeNext(_ taken: inout Taken) -> Entry? {
        guard holdsJob(&taken) else { return nil }
        defer { taken.next += 1 }
        return taken.entries[taken.next]
    }

    /// Takes all jobs that have come; returns whether there are any.
    @inline(__always)
    private func refill(_ taken: inout Taken) -> Bool {
        let end = queue.end
        guard end != taken.emptyUpTo else { return false }
        take(&taken, upTo: end)
        return !taken.isEmpty
    }

    private func take(_ taken: inout Taken, upTo end: UInt64) {
        taken.entries.removeAll()
        taken.next = 0
        queue.take(&taken.reader, upTo: end) { slot, mark in
            let entry = Entry(job: queue.segments.take(slot), context: JobContext(mark: mark))
            taken.entries.append(entry)
        }
        // A job whose sender is held up lies before the end.
        taken.emptyUpTo = taken.reader.hasPassedOver ? .max : end
    }

    /// Passes on the jobs, and all further ones, at the end of the loop.
    ///
    /// - Parameters:
    ///   - taken: Jobs that the loop took and did not perform.
    ///   - late: Makes the late job of an entry.
    func close(after taken: inout Taken, _ late: (Entry) -> LateJob) {
        closing.withLock { isClosed in
            isClosed = true
            let end = queue.close()
            var left = Array(taken.entries.all[taken.next...])
            repeat {
                take(&taken, upTo: end)
                left += taken.entries.all
                if taken.reader.hasPassedOver { sleepBriefly() }
            } while taken.reader.hasPassedOver
            queue.didTakeLast(taken.reader)
            taken = Taken()
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

    /// How the slot of a job is marked.
    @inline(__always)
    fileprivate var mark: UInt64 { SlotMark.first &+ UInt64(rawValue) }

    @inline(__always)
    fileprivate init(mark: UInt64) {
        switch mark &- SlotMark.first {
        case 0: self = .actor
        case 1: self = .task
        default: self = .actorInTask
        }
    }
}

/// Jobs in order, in storage that is used again.
///
/// What was removed stays in the storage, as it owns nothing: `Array` takes 80 instructions to
/// remove it, a third of what a job costs.
private struct JobList {
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
