/// The state of one run.
///
/// It lives on the stack of the run, and no other run uses it.
struct Run: ~Copyable {
    /// The number of the run's mode in the process; `modeIndex` is its index in the loop.
    let modeNumber: Int
    private(set) var modeIndex = -1
    /// The state that the loop's thread keeps from one run to the next.
    let local: LocalState
    let terms: Terms
    /// Whether the run performs jobs: unless it is nested in one.
    let servesJobs: Bool
    /// The run's view of its mode.
    var view = Engine.View()
    /// Whether this run has cleared wake-ups that may have been meant for an outer run.
    var clearedWakeUp = false
    /// The sole ready port that a poll found, taken for this pass without being queued.
    var delivery: Engine.Delivery?
    /// The latest poll, if it may replace others; `nil` before it, and in a run that makes one pass
    /// or returns after a source.
    var reusablePoll: PollCache?
    /// The number of the run's latest poll; at first, of the latest one before the run.
    ///
    /// If other runs have polled since, and ports have a turn, the run polls before it sleeps; see
    /// ``sleep(_:)``.
    var pollNumber: Int64
    /// How many additions of ports the kernel has been told of: the waker's `addedPortCount` when
    /// it was last given what it is to watch.
    var watchedAdditionCount: UInt64 = 0
    /// Whether the run is in its first pass, which skips no poll.
    var isInFirstPass = true

    /// The loop's clock, as read since the kernel or user code last returned.
    private var reading: Int64?

    /// Makes a run that has not begun.
    @inline(__always)
    init(
        _ mode: UVRunLoop.Mode,
        _ local: consuming LocalState,
        _ terms: consuming Terms
    ) {
        modeNumber = mode.number
        servesJobs = !local.isInJob
        pollNumber = local.pollCount
        self.local = local
        self.terms = terms
    }

    /// Starts the run with what its mode holds; called once.
    mutating func begin(in index: Int, _ engine: inout Engine) {
        modeIndex = index
        engine.update(&view, of: index)
    }

    /// Starts the run with what the latest one in the same mode found, if the engine has the same
    /// version.
    ///
    /// This takes no lock, and saves 150 instructions of a pass that is a run of its own.
    ///
    /// - Returns: Whether the run was started.
    @inline(__always)
    mutating func beginFromCache(ifVersionIs version: UInt64) -> Bool {
        let latest = local.cachedBeginning
        guard latest.modeNumber == modeNumber, latest.version == version else { return false }
        modeIndex = latest.modeIndex
        view.version = version
        view.traits = latest.traits
        return true
    }

    /// Keeps what the run began with for the next one, unless the mode has observers: to keep them
    /// could release them late.
    @inline(__always)
    func cacheBeginning() {
        guard view.holdsItems, view.observers.observed.isEmpty else { return }
        local.cachedBeginning = CachedBeginning(
            modeNumber: modeNumber,
            modeIndex: modeIndex,
            version: view.version,
            traits: view.traits
        )
    }

    /// The findings of a run when it began, in a mode with items and without observers.
    struct CachedBeginning {
        /// No mode has this number.
        var modeNumber = -1
        var modeIndex = -1
        var version: UInt64 = 0
        var traits: ModeTraits = []
    }

    /// Returns the current time.
    ///
    /// The clock is read at most once after each return from the kernel, and once after user code.
    @inline(__always)
    mutating func now(by clock: borrowing LoopWaker) -> Int64 {
        if let reading { return reading }
        let now = clock.now
        reading = now
        return now
    }

    /// Discards the clock reading; called when the kernel or user code has returned.
    @inline(__always)
    mutating func discardClockReading() { reading = nil }

    /// Whether there is something to run for, apart from blocks.
    var holdsItems: Bool { terms.staysWhenEmpty || view.holdsItems }
}

/// The event that a pass handles.
enum PassEvent: ~Copyable {
    case port(Engine.Delivery)
    /// A batch of timers has begun; this is its first timer.
    case timers(Engine.Firing)
    case nothing
}
