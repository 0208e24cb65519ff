/// The state of one loop: its modes, their items, and which of them are ready.
///
/// The engine is a value. It knows no clock, takes no lock and calls no user code: it receives the
/// time, or a function that returns it, and the kernel's reports, and returns what is to be done.
/// Items that it removes are returned to the caller, who releases them after the lock, because
/// releasing an item may run code that uses the loop.
struct GenericEngine<Items: ItemTypes>: ~Copyable {
    var modes = ModeTable<Items>()
    var timerModes = TimerModes<Items.Timer>()
    var sources = ItemTable<SourceRecord<Items>>()
    var observers = ItemTable<ObserverRecord<Items>>()
    var ports = ItemTable<PortRecord<Items>>()
    var descriptors = DescriptorTable()
    var runningTimers = RunningTimers<Items.Timer>()
    /// The number of signalled sources in all modes.
    var signalledCount = 0 {
        didSet { summary.mayHoldSignalledSources = signalledCount > 0 }
    }
    /// The latest poll that counts: one counts that has found something, or was made in a mode with
    /// ports while a port of any mode was ready, or while one was expected to be.
    private(set) var latestPoll = (number: Int64(0), serial: UInt64(0))
    var expectations = Expectations()
    /// The part of the state that any thread may read without the lock.
    ///
    /// Kept as the word that is published: to compose it of four properties after each change took
    /// 15 instructions each time the lock was released.
    var summary = EngineSummary()
    /// Whether the loop's thread has ended; nothing is accepted any more.
    private(set) var isClosed = false
    private var serial: UInt64 = 0

    /// Returns a number larger than every one before.
    mutating func nextSerial() -> UInt64 {
        serial &+= 1
        return serial
    }

    // MARK: Polls

    /// Begins to record what a poll has found, unless it is the latest already.
    @inline(__always)
    mutating func beginPoll(_ number: Int64) {
        if number > latestPoll.number {
            latestPoll = (number, nextSerial())
        }
    }

    /// Ends a poll, which was made in a mode: the mode's ports that it has not found are not ready
    /// any more, except those that it was not made for.
    @inline(__always)
    mutating func endPoll(_ number: Int64, in mode: Int) {
        beginPoll(number)
        modes[mode].latestPoll = max(modes[mode].latestPoll, number)
        if summary.holdsExpectations { endExpectations() }
        if !modes[mode].unwatched.isEmpty { keepUnwatched(in: mode, after: number) }
    }

    /// Keeps the turns of ports that have joined the mode during a poll, which did not watch them.
    @inline(never)
    private mutating func keepUnwatched(in mode: Int, after poll: Int64) {
        for descriptor in modes[mode].unwatched {
            for ticket in descriptors[descriptor]?.sources ?? [] {
                ports.modify(ticket) { $0.keep(after: poll, in: mode) }
            }
        }
    }

    mutating func renewVersion() { summary.renewVersion() }

    // MARK: Modes

    /// A run's view of its mode, valid until the version changes.
    struct View {
        /// No engine reaches this version.
        var version = UInt64.max
        var traits: ModeTraits = []
        var observers = ObserverLists<Items.Observer>()

        var holdsItems: Bool { traits.contains(.items) }
        var holdsPorts: Bool { traits.contains(.ports) }
        /// Whether a poll may find any of the ports ready: by its descriptor, or its libuv handle.
        var holdsPolledPorts: Bool { traits.contains(.polledPorts) }
        var holdsTimers: Bool { traits.contains(.timers) }
        var isCommon: Bool { traits.contains(.common) }

        /// Whether an observer is notified before or after sleeping.
        var isSleepObserved: Bool {
            !observers.observed.isDisjoint(with: [.beforeWaiting, .afterWaiting])
        }
    }

    // A method of the engine that only reads it and is not inlined would be called with a copy of
    // it, hundreds of bytes, because it could be passed in registers.

    /// Updates a run's view of a mode.
    @inline(__always)
    func update(_ view: inout View, of mode: Int) {
        view.version = summary.version
        view.traits = modes[mode].traits
        view.observers = modes[mode].observers
    }

    /// A run's view of its mode right before it sleeps.
    struct SleepView {
        var version: UInt64
        /// Whether a source is signalled or a port is ready.
        var hasWork = false
        /// Whether the kernel must watch more first.
        var hasUnwatched = false
        var soonest: Int64?
        var wakeWindow: WakeWindow?
    }

    mutating func sleepView(of mode: Int) -> SleepView {
        let hasTimers = modes[mode].timerCount > 0
        return SleepView(
            version: summary.version,
            hasWork: !modes[mode].signalled.isEmpty
                || (summary.mayHoldReady && hasReadyPort(in: mode)),
            hasUnwatched: summary.mayHoldUnwatched && !modes[mode].unwatched.isEmpty,
            soonest: hasTimers ? soonestQueued(in: mode) : nil,
            wakeWindow: hasTimers ? modes[mode].timers.wakeWindow : nil
        )
    }

    /// Adds a mode to the common modes, and every common item to the mode.
    ///
    /// - Returns: The sources that joined it, whose `schedule` handlers are to be called; `nil` if
    ///   it was common already or the loop has ended.
    mutating func addCommonMode(_ mode: UVRunLoop.Mode) -> [Items.Source]? {
        guard !isClosed, let index = modes.insertCommon(mode) else { return nil }
        renewVersion()
        _ = observers.addCommonItems(to: index, in: &modes)
        addCommonTimers(to: index)
        for ticket in ports.addCommonItems(to: index, in: &modes) { didJoin(ticket) }
        return sources.addCommonItems(to: index, in: &modes).compactMap { sources[$0]?.source }
    }

    // MARK: The end

    /// The items of a loop whose thread has ended.
    struct Remains {
        var timers: [Items.Timer] = []
        var observers: [ObserverRecord<Items>] = []
        var sources: [(record: SourceRecord<Items>, left: [UVRunLoop.Mode])] = []
        var ports: [PortRecord<Items>] = []
    }

    /// Empties every mode, and accepts nothing from then on.
    mutating func close() -> Remains {
        isClosed = true
        renewVersion()
        runningTimers.removeAll()
        signalledCount = 0
        var remains = Remains()
        // A timer in several modes comes up several times.
        for timer in allTimers where timer.core.isCommon || timerModes.isInAnyMode(timer) {
            remove(timer)
            remains.timers.append(timer)
        }
        remains.observers = observers.removeAll(in: &modes).map(\.record)
        for (record, left) in sources.removeAll(in: &modes) {
            remains.sources.append((record, modes.names(of: left)))
        }
        remains.ports = ports.removeAll(in: &modes).map(\.record)
        descriptors = DescriptorTable()
        expectations = Expectations()
        return remains
    }
}
