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
        let executors: JobExecutors
    }

    typealias Queue = SlotQueue<SystemWord, QueueSegments<UnownedJob>>

    let queue = Queue()
    /// Held while the jobs are passed on, so that no later job overtakes them.
    private let closing = Lock()
    private let wakeState: WakeState
    private let remote: any LoopRemote
    private let process = OwnerProcess()

    init(wakeState: WakeState, remote: any LoopRemote) {
        self.wakeState = wakeState
        self.remote = remote
    }

    /// Queues a job, and wakes the loop if it sleeps.
    ///
    /// While the loop is awake, it takes a lock and allocates only for a new segment of the queue.
    ///
    /// The runtime does not keep an executor alive during this call: once the job is queued,
    /// another thread may perform it, and release the last reference to the loop.
    ///
    /// - Parameters:
    ///   - entry: The job.
    ///   - loop: The loop, for a job of an actor.
    ///   - taskExecutor: The loop's task executor, for a job without the loop.
    @inline(__always)
    func enqueue(_ entry: Entry, loop: UVRunLoop?, taskExecutor: LoopTaskExecutor?) {
        UVRunLoop.checkProcess(isCurrent: process.isCurrent)
        let reference = HiddenReference(self)
        if !post(entry) { passOn(entry, loop, taskExecutor) }
        withExtendedLifetime(reference) {}
    }

    /// Passes on a job that comes after the end of the loop.
    @inline(never)
    private func passOn(_ entry: Entry, _ loop: UVRunLoop?, _ taskExecutor: LoopTaskExecutor?) {
        guard let executor = taskExecutor ?? loop?.taskExecutorObject else {
            fail("Bug in UVRunLoop: a job has neither a loop nor a task executor.")
        }
        let late = LateJob(entry: entry, loop: loop, taskExecutor: executor)
        closing.held { LateJobs.add([late]) }
    }

    /// Queues a job for the loop; returns `false` after its end.
    @inline(__always)
    private func post(_ entry: Entry) -> Bool {
        guard queue.post(entry.job, mark: entry.executors.mark) else { return false }
        if wakeState.markChangedUnlessMarked() { remote.wakeLoop() }
        return true
    }

    /// Whether the jobs are passed on.
    var isClosed: Bool { queue.isClosed }

    // MARK: The loop's thread

    /// How far the loop has taken its jobs.
    struct Reader {
        fileprivate var slots = Queue.Reader()
        /// Jobs that were taken from behind one whose sender was held up, or with it, the next one
        /// last.
        fileprivate var overtaking: [Entry] = []

        fileprivate var hasOvertaking: Bool { !overtaking.isEmpty }
    }

    /// Whether a job waits to be performed.
    @inline(__always)
    func holdsJob(_ reader: inout Reader) -> Bool {
        (reader.hasOvertaking || queue.mayHoldMore(reader.slots)) && findsJob(&reader)
    }

    @inline(never)
    private func findsJob(_ reader: inout Reader) -> Bool {
        queue.enterNextSegmentAtEnd(&reader.slots)
        if reader.hasOvertaking || queue.peek(reader.slots) != nil { return true }
        return takeOvertaking(&reader)
    }

    /// Takes the next job to be performed.
    @inline(__always)
    func takeNext(_ reader: inout Reader) -> Entry? {
        if reader.hasOvertaking { return reader.overtaking.popLast() }
        let first = queue.takeFirst(&reader.slots) { entry(in: $0, mark: $1) }
        if let first { return first }
        guard queue.mayHoldMore(reader.slots), takeOvertaking(&reader) else { return nil }
        return reader.overtaking.popLast()
    }

    /// Takes a job out of its slot.
    @inline(__always)
    private func entry(in place: Queue.Place, mark: UInt64) -> Entry {
        Entry(job: queue.segments.take(place), executors: JobExecutors(mark: mark))
    }

    /// Takes what lies behind a job whose sender is held up.
    ///
    /// - Returns: Whether there is any.
    @inline(never)
    private func takeOvertaking(_ reader: inout Reader) -> Bool {
        var found: [Entry] = []
        queue.take(&reader.slots, upTo: queue.end) { place, mark in
            found.append(entry(in: place, mark: mark))
        }
        reader.overtaking = found.reversed()
        return reader.hasOvertaking
    }

    /// Passes on the jobs, and all further ones, at the end of the loop.
    ///
    /// - Parameters:
    ///   - reader: How far the loop has taken its jobs; some may not be performed yet.
    ///   - late: Makes the late job of an entry.
    func close(after reader: inout Reader, _ late: (Entry) -> LateJob) {
        closing.held {
            let end = queue.close()
            var left: [Entry] = reader.overtaking.reversed()
            queue.takeRest(&reader.slots, upTo: end) { left.append(entry(in: $0, mark: $1)) }
            reader = Reader()
            if !left.isEmpty { LateJobs.add(left.map(late)) }
        }
    }
}

/// The executors under which a job runs.
///
/// The runtime lets a task go on without a new job as long as both stay the same.
enum JobExecutors: UInt8 {
    /// The loop as the executor of an actor.
    case actor
    /// The loop's task executor, which the task prefers.
    case task
    /// Both: an actor on the loop, in a task that prefers the loop.
    case actorInTask

    /// How the slot of a job is marked.
    @inline(__always)
    var mark: UInt64 { SlotMark.first &+ UInt64(rawValue) }

    @inline(__always)
    fileprivate init(mark: UInt64) {
        switch mark &- SlotMark.first {
        case 0: self = .actor
        case 1: self = .task
        default: self = .actorInTask
        }
    }
}
