internal import CUVSupport

/// What the library knows about one thread, kept in a slot of the thread's own.
final class ThreadRecord {
    let identity: ThreadIdentity
    /// The thread for those who are to have something released by it.
    let home: HomeThread
    /// The thread's loop, once it was asked for; set by that thread.
    var loop: UVRunLoop? {
        didSet {
            let thread = unsafe Self.slot
            unsafe thread.pointee.loop = loop.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
            unsafe thread.pointee.loop_place =
                loop?.location.bits ?? TimerOwner.Location.nowhere.bits
            home.setLoop(loop)
        }
    }
    /// The object that started the thread, while its loop goes on.
    var starter: (any AnyObject & Sendable)?
    private let generation: UInt64
    private var destructorRounds = 0
    /// The system has said that the thread ends, before it called any destructor.
    private var endIsAnnounced = false

    private init(identity: ThreadIdentity) {
        self.identity = identity
        home = identity == .main ? .main : HomeThread(identity)
        generation = ForkCount.current
    }

    /// The calling thread's slot.
    private static var slot: UnsafeMutablePointer<cuv_thread> { unsafe cuv_current_thread() }

    /// The calling thread's record.
    ///
    /// A forked child finds its parent's and leaves it where it is: nothing of the parent's is
    /// touched, not even to release it.
    static var current: ThreadRecord {
        let thread = unsafe slot
        if unsafe thread.pointee.generation == ForkCount.current,
            let found = unsafe thread.pointee.record
        {
            return unsafe Unmanaged<ThreadRecord>.fromOpaque(found).takeUnretainedValue()
        }
        ForkCount.watch()
        let record = ThreadRecord(identity: .next())
        let pointer = unsafe Unmanaged.passRetained(record).toOpaque()
        unsafe thread.pointee = unsafe cuv_thread(
            record: pointer,
            identity: record.identity.number,
            generation: record.generation,
            home: unsafe Unmanaged.passUnretained(record.home).toOpaque(),
            loop: nil,
            loop_place: TimerOwner.Location.nowhere.bits
        )
        unsafe askForDestructor(pointer)
        unsafe askForAnnouncement(pointer)
        return record
    }

    /// The calling thread's number, without a look at the record: this is asked for in every call.
    static var currentIdentity: ThreadIdentity {
        let thread = unsafe slot
        guard unsafe thread.pointee.generation == ForkCount.current,
            unsafe thread.pointee.record != nil
        else { return current.identity }
        return unsafe ThreadIdentity(number: thread.pointee.identity)
    }

    /// Whether a number is the calling thread's; a thread without a record has none.
    static func isCurrent(_ identity: ThreadIdentity) -> Bool {
        let thread = unsafe slot
        return unsafe thread.pointee.generation == ForkCount.current
            && thread.pointee.record != nil && thread.pointee.identity == identity.number
    }

    /// The calling thread's home, without a look at the record: each handler asks for it.
    static var currentHome: HomeThread {
        let thread = unsafe slot
        guard unsafe thread.pointee.generation == ForkCount.current,
            let home = unsafe thread.pointee.home
        else { return current.home }
        return unsafe Unmanaged<HomeThread>.fromOpaque(home).takeUnretainedValue()
    }

    /// Lends the calling thread's loop, if it has one: it lives as long as the thread does.
    static func withCurrentLoop<Result>(_ body: (UVRunLoop?) -> Result) -> Result {
        let thread = unsafe slot
        guard unsafe thread.pointee.generation == ForkCount.current,
            let loop = unsafe thread.pointee.loop
        else { return body(nil) }
        return unsafe Unmanaged<UVRunLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { body($0) }
    }

    /// Lends a loop, the calling thread's most quickly; `nil` when its thread has ended.
    static func withLoop<Result: Sendable>(
        at location: TimerOwner.Location,
        _ body: (UVRunLoop) -> Result?
    ) -> Result? {
        let thread = unsafe slot
        guard unsafe thread.pointee.loop_place == location.bits,
            let loop = unsafe thread.pointee.loop
        else { return location.loop.flatMap(body) }
        return unsafe Unmanaged<UVRunLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { body($0) }
    }

    // MARK: The end of a thread

    /// Its only use is that the system calls its destructor when a thread ends.
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

    private static func askForDestructor(_ pointer: UnsafeMutableRawPointer) {
        let status = unsafe pthread_setspecific(key, pointer)
        require(status == 0, "UVRunLoop could not keep a thread's run loop: no memory.")
    }

    private static func askForAnnouncement(_ pointer: UnsafeMutableRawPointer) {
        let status = unsafe cuv_at_thread_end(
            { pointer in
                guard let pointer = unsafe pointer else { return }
                let record = unsafe Unmanaged<ThreadRecord>.fromOpaque(pointer)
                    .takeUnretainedValue()
                record.endIsAnnounced = true
            },
            pointer
        )
        require(status == 0, "UVRunLoop could not keep a thread's run loop: no memory.")
    }

    /// The round of destructors in which the loop is torn down: the last but one of glibc's and
    /// POSIX's four.
    ///
    /// Earlier, other destructors may still want the loop to run. In the last round sanitizers
    /// have taken leave of the thread already.
    private static let teardownRound = 3

    /// Called once per round, up to that of the teardown.
    ///
    /// The record stays in the thread's slot to the end: `current` does not make a second loop for
    /// whatever destructors come later.
    private static func threadIsEnding(_ pointer: UnsafeMutableRawPointer) {
        let record = unsafe Unmanaged<ThreadRecord>.fromOpaque(pointer).takeUnretainedValue()
        let isInherited = record.generation != ForkCount.current
        guard !isInherited, record.identity != .main else { return }
        record.destructorRounds += 1
        // A record that was made by a destructor missed the announcement. Nobody knows which round
        // this is: it may be the last.
        let isLast = record.destructorRounds == teardownRound || !record.endIsAnnounced
        guard isLast else { return unsafe askForDestructor(pointer) }
        record.loop?.tearDown()
        record.home.close()
        unsafe Graveyard.shared.current.bury(pointer)
    }
}

/// Keeps the records of ending threads until the threads are gone.
private final class Graveyard: Sendable {
    private struct Grave {
        let thread: pid_t
        /// A retained record; a number, because nobody may touch it but to release it.
        let record: UInt
    }

    static let shared = PerProcess { Graveyard() }

    private let graves = Guarded<[Grave]>([])
    private static let checksPerThreadEnd = 8

    /// Takes over a thread's record, and releases those whose threads are gone by now.
    func bury(_ pointer: UnsafeMutableRawPointer) {
        let grave = Grave(thread: cuv_thread_id(), record: UInt(bitPattern: pointer))
        let gone = graves.withLock { graves in
            // A few at a time, in turn: a thread's end costs the same however many others are
            // ending.
            let checked = Array(graves.prefix(Self.checksPerThreadEnd))
            graves.removeFirst(checked.count)
            var gone: [Grave] = []
            for grave in checked {
                if cuv_is_thread_gone(grave.thread) != 0 {
                    gone.append(grave)
                } else {
                    graves.append(grave)
                }
            }
            graves.append(grave)
            return gone
        }
        for grave in gone {
            guard let pointer = unsafe UnsafeRawPointer(bitPattern: grave.record) else { continue }
            unsafe Unmanaged<ThreadRecord>.fromOpaque(pointer).release()
        }
    }
}
