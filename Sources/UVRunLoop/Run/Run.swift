/// What one run knows about itself.
///
/// It lives on the stack of the run and is nobody else's.
struct Run: ~Copyable {
    /// What stands for its mode in the process, and what in the loop.
    let modeNumber: Int
    private(set) var modeIndex = -1
    let driver: any LoopDriver
    let terms: Terms
    /// What the mode holds, as of the version in it.
    var view = Engine.View()
    /// Whether wake-ups were forgotten that may have been meant for an outer run.
    var clearedWakeUp = false
    /// What a look has found and taken for this pass at once.
    var delivery: Engine.Delivery?
    /// What was served last and has more.
    var busyReceiver: (any PortReceiver)?
    /// The latest look at the kernel; `nil` before the first.
    var latestPoll: PollCache?
    var hasSkippedPoll: Bool { latestPoll.map { $0.skippedPolls > 0 } ?? false }
    /// No look is left out in a run's first pass.
    var isInFirstPass = true

    /// The loop's clock, as it was read since the kernel or user code returned last.
    private var reading: Int64?

    init(_ mode: UVRunLoop.Mode, _ driver: any LoopDriver, _ terms: Terms) {
        modeNumber = mode.number
        self.driver = driver
        self.terms = terms
    }

    /// To be called once, with what the mode holds.
    mutating func begin(in index: Int, _ engine: borrowing Engine) {
        modeIndex = index
        engine.show(index, in: &view)
    }

    /// The present time: the clock is read once after each return from the kernel and once after
    /// user code, and only if somebody asks.
    @inline(__always)
    mutating func now(by clock: any LoopRemote) -> Int64 {
        if let reading { return reading }
        let now = clock.now
        reading = now
        return now
    }

    /// To be called when the kernel or user code has returned.
    @inline(__always)
    mutating func timeHasPassed() { reading = nil }

    /// What whoever runs the loop asks for.
    struct Terms {
        /// Nanoseconds of the loop's clock; `nil` for a run without a limit.
        let limit: Int64?
        /// Whether the limit had come before the run began: such a run is one pass that does not
        /// wait.
        let limitWasPast: Bool
        let returnsAfterSource: Bool
        /// Whether it does what is left to do after the loop was ended: it makes one pass all the
        /// same.
        var isLast = false
        /// What it goes on for although the loop was ended.
        var awaitedPort: UVRunLoop.PortLink?
        /// Whether it goes on although its mode is empty.
        var staysWhenEmpty = false
    }

    /// Whether there is something to run for, blocks aside.
    var holdsItems: Bool { terms.staysWhenEmpty || view.holdsItems }
}

/// What a pass found to handle.
enum PassEvent {
    case port(Engine.Delivery)
    /// A batch of timers has begun: this is the first of it.
    case timers(Engine.Firing)
    case nothing
}
