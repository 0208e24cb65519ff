/// What one loop knows: its modes, the items in them, and what is ready to be served.
///
/// The engine is a value. It reads no clock, takes no lock and calls nobody: it is told the time
/// and what the kernel reported, and answers what is to be done. Whatever leaves it is handed to
/// the caller, who lets go of it where no lock is held, because releasing an item may run code
/// that uses the loop.
struct GenericEngine<Items: ItemTypes>: ~Copyable {
    var modes = ModeTable<Items>()
    var timerModes = TimerModes<Items.Timer>()
    var sources = ItemTable<SourceRecord<Items>>()
    var observers = ItemTable<ObserverRecord<Items>>()
    var ports = ItemTable<PortRecord<Items>>()
    var descriptors = DescriptorTable()
    /// Timers whose handlers are running, innermost last.
    var firing: [Items.Timer] = []
    /// How many sources are signalled, in any mode.
    var signalledCount = 0
    /// The latest look at the kernel for a mode with ports.
    private(set) var latestPoll = PollStamp()
    /// Its number.
    var pollNumber: Int64 {
        get { latestPoll.number }
        set { latestPoll.begin(newValue, at: nextSerial()) }
    }
    /// Whether a port may be ready, in any mode.
    var mayHoldReady = false
    /// Whether the kernel may have to be asked for more, for any mode.
    var mayHoldUnwatched = false
    /// The loop's thread has ended: nothing is accepted any more.
    private(set) var isClosed = false
    /// Grows with every change of what the modes hold.
    private(set) var version: UInt64 = 0
    private var serial: UInt64 = 0

    /// A number never given before; what happens later has the larger one.
    mutating func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }

    mutating func recordSkippedPoll() { latestPoll.lastSkipped = nextSerial() }

    mutating func renewVersion() { version += 1 }

    /// What everybody may know without the lock: the version, and whether there may be something
    /// to serve.
    var summary: EngineSummary {
        EngineSummary(
            version: version,
            mayHoldSignals: signalledCount > 0,
            mayHoldReady: mayHoldReady,
            mayHoldUnwatched: mayHoldUnwatched
        )
    }

    // MARK: Modes

    /// What a run needs to know about its mode, and keeps until the version changes.
    struct View {
        /// No engine ever has the first one.
        var version = UInt64.max
        var observers = ObserverLists<Items.Observer>()
        var holdsItems = false
        var holdsPorts = false
        /// Whether there are ports that the kernel has to be asked about.
        var holdsDescriptors = false
        var holdsTimers = false
        var isCommon = false

        /// Whether an observer is told of sleeping or waking.
        var isSleepObserved: Bool {
            !observers.observed.isDisjoint(with: [.beforeWaiting, .afterWaiting])
        }
    }

    /// Brings what a run knows of a mode up to date.
    func show(_ mode: Int, in view: inout View) {
        view.version = version
        view.observers = modes[mode].observers
        view.holdsItems = modes[mode].holdsItems
        view.holdsPorts = modes[mode].portCount > 0
        view.holdsDescriptors = modes[mode].descriptorCount > 0
        view.holdsTimers = modes[mode].timerCount > 0
        view.isCommon = modes[mode].isCommon
    }

    /// What a run needs to know about its mode right before it sleeps.
    struct SleepView {
        var version: UInt64
        /// Whether a source is signalled or a port is ready.
        var hasWork: Bool
        /// Whether the kernel has to be asked for more first.
        var hasUnwatched: Bool
        var soonest: Int64?
        var deadline: Deadline?
    }

    mutating func sleepView(of mode: Int) -> SleepView {
        let hasTimers = modes[mode].timerCount > 0
        return SleepView(
            version: version,
            hasWork: !modes[mode].signalled.isEmpty || (mayHoldReady && hasReadyPort(in: mode)),
            hasUnwatched: mayHoldUnwatched && !modes[mode].unwatched.isEmpty,
            soonest: hasTimers ? modes[mode].timers.soonest : nil,
            deadline: hasTimers ? deadline(in: mode) : nil
        )
    }

    /// Makes a mode one of the common ones, which brings it every item recorded as common.
    ///
    /// - Returns: The sources that joined it, whose clients are to be told.
    mutating func addCommonMode(_ mode: UVRunLoop.Mode) -> [Items.Source] {
        guard !isClosed, let index = modes.insertCommon(mode) else { return [] }
        renewVersion()
        _ = observers.addCommonItems(to: index, in: &modes)
        addCommonTimers(to: index)
        for ticket in ports.addCommonItems(to: index, in: &modes) { watchAgain(ticket) }
        mayHoldReady = true
        return sources.addCommonItems(to: index, in: &modes).compactMap { sources[$0]?.source }
    }

    // MARK: The end

    /// What a loop held when its thread ended.
    struct Remains {
        var timers: [Items.Timer] = []
        var observers: [ObserverRecord<Items>] = []
        var sources: [(record: SourceRecord<Items>, left: [UVRunLoop.Mode])] = []
        var ports: [PortRecord<Items>] = []
    }

    /// Empties every mode for good.
    mutating func close() -> Remains {
        isClosed = true
        renewVersion()
        firing = []
        signalledCount = 0
        var remains = Remains()
        // One that is in several modes is met several times, and belongs to others once it has left.
        for timer in allTimers where timer.core.isCommon || timerModes.isInAnyMode(timer) {
            remove(timer)
            remains.timers.append(timer)
        }
        for ticket in observers.tickets {
            if let (record, _) = observers.removeEverywhere(ticket, in: &modes) {
                remains.observers.append(record)
            }
        }
        for ticket in sources.tickets {
            if let (record, left) = sources.removeEverywhere(ticket, in: &modes) {
                remains.sources.append((record, modes.names(of: left)))
            }
        }
        for ticket in ports.tickets {
            if let (record, _) = ports.removeEverywhere(ticket, in: &modes) {
                remains.ports.append(record)
            }
        }
        return remains
    }
}

/// The engine's state in one word.
struct EngineSummary: Equatable {
    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    init(version: UInt64, mayHoldSignals: Bool, mayHoldReady: Bool, mayHoldUnwatched: Bool) {
        bits =
            version << 3 | (mayHoldSignals ? 1 : 0) | (mayHoldReady ? 2 : 0)
            | (mayHoldUnwatched ? 4 : 0)
    }

    /// Nothing to serve, and nothing to watch.
    static func nothingToDo(version: UInt64) -> EngineSummary {
        EngineSummary(
            version: version,
            mayHoldSignals: false,
            mayHoldReady: false,
            mayHoldUnwatched: false
        )
    }

    var version: UInt64 { bits >> 3 }
    var mayHoldSignals: Bool { bits & 1 != 0 }
    var mayHoldReady: Bool { bits & 2 != 0 }
    var mayHoldUnwatched: Bool { bits & 4 != 0 }
}
