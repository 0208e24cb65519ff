internal import CUVSupport

/// The library's state for one thread, reached through a thread-local variable.
final class ThreadRecord {
    let identity: ThreadIdentity
    /// The system's ID of the thread.
    let systemThread: pid_t
    /// The thread as the home of handlers.
    let home: HomeThread
    /// The thread's loop, once it was created; set by the thread itself.
    var loop: UVRunLoop? {
        didSet {
            let thread = unsafe Self.slot
            unsafe thread.pointee.loop = loop.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
            unsafe thread.pointee.loop_location =
                loop?.location.bits ?? ItemOwner.Location.nowhere.bits
            unsafe thread.pointee.loop_end = loop?.endAddress.pointer
            home.setLoop(loop)
        }
    }
    /// The object that started the thread, while its loop runs.
    var starter: (any AnyObject & Sendable)?
    private let forkCount: UInt64
    private var destructorRounds = 0
    /// Whether the system has announced the thread's exit, which it does before it calls
    /// destructors.
    private var endIsAnnounced = false

    private init() {
        systemThread = cuv_thread_id()
        identity = .next(for: systemThread)
        home = .open(identity)
        forkCount = ForkCount.current
    }

    /// The calling thread's thread-local variable.
    private static var slot: UnsafeMutablePointer<cuv_thread> { unsafe cuv_current_thread() }

    /// The calling thread's record.
    ///
    /// A forked child leaves its parent's record alone: nothing of the parent's is touched or
    /// released.
    static var current: ThreadRecord {
        let thread = unsafe slot
        if unsafe thread.pointee.forkCount == ForkCount.current,
            let found = unsafe thread.pointee.record
        {
            return unsafe Unmanaged<ThreadRecord>.fromOpaque(found).takeUnretainedValue()
        }
        let record = ThreadRecord()
        let pointer = unsafe Unmanaged.passRetained(record).toOpaque()
        unsafe thread.pointee = unsafe cuv_thread(
            record: pointer,
            identity: record.identity.number,
            forkCount: record.forkCount,
            loop: nil,
            loop_location: ItemOwner.Location.nowhere.bits,
            loop_end: nil
        )
        unsafe registerDestructor(pointer)
        unsafe registerExitFunction(pointer)
        if let loop = MainLoop.loop { adopt(loop) }
        return record
    }

    /// Gives the main thread its loop, which any thread may have created; does nothing on another
    /// thread, or on one without a record.
    static func adopt(_ main: UVRunLoop) {
        guard isCurrent(.main), unsafe slot.pointee.loop == nil else { return }
        current.loop = main
    }

    /// The calling thread's identity; every call needs it, so it is read without the record.
    static var currentIdentity: ThreadIdentity {
        let thread = unsafe slot
        guard unsafe thread.pointee.forkCount == ForkCount.current,
            unsafe thread.pointee.record != nil
        else { return identityOfNewThread() }
        return unsafe ThreadIdentity(number: thread.pointee.identity)
    }

    /// Whether an identity is the calling thread's; a thread without a record has none.
    static func isCurrent(_ identity: ThreadIdentity) -> Bool {
        let thread = unsafe slot
        return unsafe thread.pointee.forkCount == ForkCount.current
            && thread.pointee.record != nil && thread.pointee.identity == identity.number
    }

    /// Lends the calling thread's loop, if it has one; the loop lives as long as the thread.
    static func withCurrentLoop<Result>(_ body: (UVRunLoop?) -> Result) -> Result {
        let thread = unsafe slot
        guard unsafe thread.pointee.forkCount == ForkCount.current,
            let loop = unsafe thread.pointee.loop
        else { return body(nil) }
        return unsafe Unmanaged<UVRunLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { body($0) }
    }

    /// Whether a loop of this process is the calling thread's.
    @inline(__always)
    static func isCurrentLoop(_ loop: UVRunLoop) -> Bool {
        unsafe slot.pointee.loop == Unmanaged.passUnretained(loop).toOpaque()
    }

    /// Whether a location is that of the calling thread's loop.
    static func isCurrentLoop(at location: ItemOwner.Location) -> Bool {
        // Another thread may have created the main thread's loop.
        if current.loop == nil, let main = MainLoop.loop { adopt(main) }
        return unsafe location != .nowhere && slot.pointee.loop_location == location.bits
    }

    /// Lends a loop; returns `nil` if its thread has ended.
    ///
    /// The calling thread's own loop is found without a lock, which saves 88 instructions when a
    /// timer is cancelled.
    static func withLoop<Result: Sendable>(
        at location: ItemOwner.Location,
        _ body: (UVRunLoop) -> Result?
    ) -> Result? {
        let thread = unsafe slot
        guard unsafe thread.pointee.loop_location == location.bits,
            let loop = unsafe thread.pointee.loop
        else { return location.loop.flatMap(body) }
        return unsafe Unmanaged<UVRunLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { body($0) }
    }

    /// Has the calling thread look for a location's loop by its anchor from now on, because the
    /// thread's own loop has ended and another loop may reuse the anchor.
    static func forget(_ location: ItemOwner.Location) {
        let thread = unsafe slot
        if unsafe thread.pointee.loop_location == location.bits {
            unsafe thread.pointee.loop_location = ItemOwner.Location.nowhere.bits
        }
    }

    // MARK: The end of a thread

    /// Releases what is left of threads that are gone; called before a thread gets a loop.
    ///
    /// A new thread has no free memory of its own: with malloc it then gets what was just freed,
    /// and gives less back when it ends.
    static func releaseGone() { EndedThreads.shared.current.releaseGone() }

    /// Releases what is left of a loop's thread, which was joined.
    static func releaseJoined(of loop: UVRunLoop) {
        EndedThreads.shared.current.releaseJoined(of: loop)
    }

    /// A key whose destructor is called when a thread ends.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key) { pointer in
            guard let pointer = unsafe pointer else { return }
            unsafe ThreadRecord.threadIsEnding(pointer)
        }
        require(
            status == 0,
            "UVRunLoop found no thread-specific key left (PTHREAD_KEYS_MAX). Create fewer keys."
        )
        return key
    }()

    private static func registerDestructor(_ pointer: UnsafeMutableRawPointer) {
        let status = unsafe pthread_setspecific(key, pointer)
        require(status == 0, "UVRunLoop could not store a thread's run loop: out of memory.")
    }

    private static func registerExitFunction(_ pointer: UnsafeMutableRawPointer) {
        let status = unsafe cuv_at_thread_end(
            { pointer in
                guard let pointer = unsafe pointer else { return }
                let record = unsafe Unmanaged<ThreadRecord>.fromOpaque(pointer)
                    .takeUnretainedValue()
                record.endIsAnnounced = true
            },
            pointer
        )
        require(status == 0, "UVRunLoop could not store a thread's run loop: out of memory.")
    }

    /// The round of destructors in which the loop is torn down: the second of the four of glibc and
    /// POSIX.
    ///
    /// In the first, other destructors may still use the loop. In the third, Core Foundation takes
    /// its data of the thread away, which what the teardown calls and releases may use.
    private static let teardownRound = 2
    /// The round for a thread without a loop, which a destructor may still make.
    ///
    /// In the fourth, the sanitizers have already finished the thread.
    private static let lastRound = 3

    /// Called once per round of destructors, up to that of the teardown.
    ///
    /// The thread-local variable keeps the record, so that `current` does not create a second loop
    /// for later destructors.
    private static func threadIsEnding(_ pointer: UnsafeMutableRawPointer) {
        let record = unsafe Unmanaged<ThreadRecord>.fromOpaque(pointer).takeUnretainedValue()
        let isInherited = record.forkCount != ForkCount.current
        guard !isInherited, record.identity != .main else { return }
        record.destructorRounds += 1
        // A record created by a destructor missed the announcement. The round is unknown then, and
        // may be the last.
        let round = record.loop == nil ? lastRound : teardownRound
        let isLast = record.destructorRounds >= round || !record.endIsAnnounced
        guard isLast else {
            record.home.performReleases()
            return unsafe registerDestructor(pointer)
        }
        let loop: (any EndsWithThread)? = record.loop
        loop?.tearDown()
        record.home.close()
        loop?.passOnJobs()
        EndedThreads.shared.current.add(unsafe EndedRecord(record, pointer))
    }
}

/// Makes the calling thread's record.
///
/// A function of its own: a call of a static member in ``ThreadRecord/currentIdentity`` would look
/// up the class for every call of that.
@inline(never)
private func identityOfNewThread() -> ThreadIdentity { ThreadRecord.current.identity }
