import UVRunLoop
import UVRunLoopPorts

/// The server: everything that runs on the one loop.
///
/// It is made and used on the loop's thread only, so nothing here needs a lock. What it waits for
/// are sources of the loop, all in the default mode: the listeners and the clients' sockets, the
/// signals that end it, and the port at which snapshots are reported done. Keys expire by one
/// timer, and replies leave from an observer, when all that could be read has been.
final class Server {
    /// Whether commands are carried out.
    enum Phase {
        case serving
        /// The last snapshot is being written: nothing may change any more.
        case saving
        /// The last replies are being sent.
        case draining
    }

    let loop = UVRunLoop.current
    let options: Options
    let file: SnapshotFile
    var interpreter: Interpreter
    var phase = Phase.serving

    // Clients.
    var listeners: [UVRunLoop.SocketPort] = []
    var connections: [Int: Connection] = [:]
    var lastNumber = 0

    // Replies.
    /// Those with replies to send.
    var listed: [Connection] = []
    /// How often something was read since replies were sent.
    var readsSinceFlush = 0
    /// Memory for replies, lent to those who have some to send.
    var spareReplies: [Reply] = []

    // Saving.
    private(set) lazy var saver = Saver(file) { [unowned self] in didSave(failure: $0) }
    /// Who is told when the snapshot is written that is under way.
    var savers: [SaveReason] = []
    /// Who needs a snapshot that is begun after that one.
    var nextSavers: [SaveReason] = []

    // Ending.
    var signals: [UVRunLoop.SignalSource] = []
    /// Whether a signal has asked for the end.
    var hasSignal = false
    /// Those who have got their last reply and have not left, and until when they may stay.
    var leaving: [(connection: Connection, deadline: UVRunLoop.Instant)] = []

    /// The soonest expiry for which the timer is set.
    var armedExpiry: WallTime?
    private(set) lazy var expiryTimer = UVRunLoop.Timer(
        after: Self.never,
        interval: Self.never,
        tolerance: .milliseconds(2),
        handler: { _ in self.removeExpired() }
    )
    private(set) lazy var sweepTimer = UVRunLoop.Timer(
        after: Self.never,
        interval: Self.never,
        handler: { _ in self.sweepLeaving() }
    )

    /// The interval of timers that are set by hand each time.
    static let never = Duration.seconds(1_000_000_000)

    init(_ options: Options) {
        self.options = options
        file = SnapshotFile(directory: options.directory ?? ".")
        interpreter = Interpreter(facts: Self.facts(options, file))
    }

    /// Serves until somebody ends it.
    func run() {
        load()
        listen()
        watchSignals()
        loop.add(expiryTimer, forMode: .default)
        loop.add(sweepTimer, forMode: .default)
        let flusher = UVRunLoop.Observer(
            activities: .beforeWaiting,
            handler: { _, _ in self.flush() }
        )
        loop.add(flusher, forMode: .default)
        loop.run()
    }

    private func load() {
        do throws(FileError) {
            if options.directory != nil { try saver.claim() }
            interpreter.keyspace = try file.read(at: .now)
        } catch {
            fail(error.text)
        }
        let count = interpreter.keyspace.count
        if count > 0 { say("KeyValue: \(count) keys from \(file.path)") }
    }

    // MARK: Expiry

    /// Sets the one timer for the key that expires first.
    func armExpiry() {
        let soonest = interpreter.keyspace.soonestExpiry
        guard soonest != armedExpiry else { return }
        armedExpiry = soonest
        guard let soonest else {
            expiryTimer.nextFireDate = loop.now + Self.never
            return
        }
        let distance = soonest.milliseconds - WallTime.now.milliseconds
        let limit = Int(Self.never.components.seconds) * 1000
        expiryTimer.nextFireDate = loop.now + .milliseconds(min(max(distance, 0), limit))
    }

    /// Removes what has expired: not too much at a time, so that clients do not wait for it.
    private func removeExpired() {
        interpreter.keyspace.removeExpired(at: .now, limit: 1000)
        armedExpiry = nil
        armExpiry()
    }
}
