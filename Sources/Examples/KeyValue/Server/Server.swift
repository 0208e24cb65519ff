import UVRunLoop
import UVRunLoopPorts

/// The server: everything that runs on its one loop.
///
/// It is made and used on the loop's thread only, so it needs no lock. Its sources are all in the
/// default mode: the listeners and the clients' sockets, the signals that end it, and the port that
/// receives the results of snapshots. One timer expires keys, and an observer sends the replies
/// once all available input has been read.
final class Server {
    /// Whether commands are executed.
    enum Phase {
        case serving
        /// The final snapshot is being written: nothing may change any more.
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
    /// Clients with unsent replies.
    var listed: [Connection] = []
    /// How often input was read since replies were last sent.
    var readsSinceFlush = 0
    /// Reply buffers for reuse.
    var spareReplies: [Reply] = []

    // Saving.
    private(set) lazy var saver = Saver(file) { [unowned self] in didSave(failure: $0) }
    /// The requests that the snapshot in progress serves.
    var savers: [SaveReason] = []
    /// The requests that the next snapshot will serve.
    var nextSavers: [SaveReason] = []

    // Ending.
    var signals: [UVRunLoop.SignalSource] = []
    /// Whether a signal has requested shutdown.
    var hasSignal = false
    /// Clients that have been sent their last reply and are still connected, with their deadlines.
    var leaving: [(connection: Connection, deadline: UVRunLoop.Instant)] = []

    /// The earliest expiry date, which the timer is set to.
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

    /// An interval for timers whose date is set each time.
    static let never = Duration.seconds(1_000_000_000)

    init(_ options: Options) {
        self.options = options
        file = SnapshotFile(directory: options.directory ?? ".")
        interpreter = Interpreter(facts: Self.facts(options, file))
    }

    /// Serves until shutdown.
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

    /// Sets the timer to the earliest expiry date.
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

    /// Removes expired keys, a limited number at a time, so that clients are not delayed.
    private func removeExpired() {
        interpreter.keyspace.removeExpired(at: .now, limit: 1000)
        armedExpiry = nil
        armExpiry()
    }
}
