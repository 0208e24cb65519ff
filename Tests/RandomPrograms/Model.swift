/// The contract of a run loop as an interpreter.
///
/// It is slow, and as near to the contract's words as can be; it knows nothing of the engine.
///
/// Where the contract leaves something open, the model asks what the loop did, and accepts that if
/// the contract allows it. Each such place is marked with "the contract leaves open".
package final class Model {
    /// A run on the stack.
    struct Run {
        let mode: ModeName
        let limit: Int64?
        let returnsAfterSource: Bool
        /// Judged once, when the run begins.
        let limitWasPast: Bool
        var isStopped = false
        /// Whether the coming sleep ends at once.
        var isWoken = false
        var passes = 0
        /// `nil` before its first one.
        var latestPoll: RunPoll?
        /// The descriptors that it has found ready.
        var found: [Int] = []
    }

    /// A poll that a run has made, which a sleep ends with as well.
    struct RunPoll {
        var time: Int64
        let pass: Int
        let tick: Int
        /// The latest poll before which the kernel was told of new sources.
        let toldTick: Int
    }

    struct QueuedBlock {
        let item: Int
        let modes: [ModeName]
    }

    /// The state of an item that may change, for items of all kinds.
    struct ItemState {
        var isValid = true
        var callsOnStack = 0
        var isOnStack: Bool { callsOnStack > 0 }
        // A custom source: when it was signalled first; `nil` when it is not signalled.
        var signalledAt: Int?
        var timer = TimerState()
        var port = PortState()
    }

    var performance: Performance
    /// The events of the loop; read only where the contract leaves open what comes.
    let observed: [Event]
    let isVirtual: Bool

    var now: Int64 = 0
    var runs: [Run] = []
    var items: [ItemState]
    var blocks: [QueuedBlock] = []
    /// A mode's items in the order in which they joined it.
    var members: [ModeName: [Int]] = [:]
    var commonModes: Set<ModeName> = [.main]
    /// The items that were added to the common modes, in that order.
    var commonItems: [Int] = []
    var usedModes: Set<ModeName> = []
    var visits: ArraySlice<Visit>
    var sleepPlan = SleepPlan()
    var latestPassServedPort = false
    /// When the kernel was asked last.
    var latestPoll = 0
    /// When a port-based source was added last.
    var latestPortAddition = 0
    /// Counts what happens, to tell earlier from later.
    var tick = 0
    /// Whether a visit in real time did not end the sleep, so that nobody knows when the next
    /// comes.
    package private(set) var isUnsettled = false

    /// A poll: that of step 5 or that of step 7 in one of all passes.
    struct Poll: Hashable {
        var pass: Int
        var step: Int
    }

    /// Those that are left out.
    private let omittedPolls: Set<Poll>
    private var passes = 0
    /// The passes whose polls may be left out, and how much had happened by then.
    private(set) var optionalPasses: [(pass: Int, event: Int)] = []

    /// Makes a model that leaves out no poll and is told of no loop.
    package convenience init(_ program: Program, isVirtual: Bool) {
        self.init(program, observed: [], isVirtual: isVirtual)
    }

    init(
        _ program: Program,
        observed: [Event],
        isVirtual: Bool,
        omittingPolls omittedPolls: Set<Poll> = []
    ) {
        self.omittedPolls = omittedPolls
        performance = Performance(program)
        self.observed = observed
        self.isVirtual = isVirtual
        items = program.items.map { _ in ItemState() }
        visits = program.visits[...]
        for (item, kind) in program.items.map(\.kind).enumerated() {
            guard case .timer(let date, let interval, let tolerance) = kind else { continue }
            // "A date in the past, when made or set, becomes now."
            letTimePass()
            items[item].timer.date = max(date, now)
            items[item].timer.interval = interval.map { $0 > 0 ? $0 : TimerState.shortest }
            items[item].timer.tolerance = max(tolerance, 0)
        }
    }

    /// The events that happen when the program is carried out.
    package func trace() -> [Event] {
        for action in performance.program.actions { carryOut(action) }
        endThread()
        return performance.trace
    }

    func nextTick() -> Int {
        tick += 1
        return tick
    }

    var place: Place {
        Place(mode: runs.last?.mode, depth: runs.count, time: isVirtual ? now : 0)
    }

    /// The next event of the loop, where the contract leaves open what that is.
    var observedNext: Event? {
        performance.trace.count < observed.count ? observed[performance.trace.count] : nil
    }

    func callOut(to item: Int, _ event: Event) {
        items[item].callsOnStack += 1
        for action in performance.begin(item, event) { carryOut(action) }
        items[item].callsOnStack -= 1
        refreshReadiness()
    }

    /// In real time, two moments are never the same.
    func letTimePass() { if !isVirtual { now += 1 } }

    /// Begins a pass of the innermost run.
    func beginPass() -> Int {
        passes += 1
        innermost.passes += 1
        if innermost.passes > 1, !innermost.limitWasPast {
            optionalPasses.append((passes, performance.trace.count))
        }
        return passes
    }

    /// Whether a poll without waiting is left out.
    ///
    /// "Only if the previous poll of the same run was less than N passes and 1 ms ago and no port
    /// source was added since; never in a run's first pass, never in a one-pass run. Virtual time
    /// follows the same rule".
    func isLeftOut(_ poll: Poll) -> Bool {
        guard omittedPolls.contains(poll), let latest = innermost.latestPoll else { return false }
        let isYoung = !isVirtual || now - latest.time < Self.maxPollAge
        return isYoung && innermost.passes - latest.pass <= Self.maxPollPasses
            && latest.tick > latestPortAddition
    }

    private static let maxPollAge: Int64 = 1_000_000
    private static let maxPollPasses = 64

    func noteUnsettled() { isUnsettled = true }
}

extension Model {
    func isIn(_ item: Int, _ mode: ModeName) -> Bool {
        members[mode, default: []].contains(item)
    }

    func kind(_ item: Int) -> Item.Kind { performance.program.items[item].kind }

    func isSource(_ item: Int) -> Bool {
        if case .source = kind(item) { true } else { false }
    }

    func isTimer(_ item: Int) -> Bool {
        if case .timer = kind(item) { true } else { false }
    }

    func isObserver(_ item: Int) -> Bool {
        if case .observer = kind(item) { true } else { false }
    }

    func isPort(_ item: Int) -> Bool {
        switch kind(item) {
        case .reader, .writer, .port: true
        default: false
        }
    }

    /// Whether a mode is empty: 4.3.
    ///
    /// "No custom source, no port-based source, no valid timer and no queued block. Observers never
    /// count".
    func isEmpty(_ mode: ModeName) -> Bool {
        if mode == .common { return true }
        let holdsItems = members[mode, default: []].contains { !isObserver($0) }
        return !holdsItems && !blocks.contains { mayRun($0, in: mode) }
    }

    /// "A block for `.common` is matched when blocks run".
    func mayRun(_ block: QueuedBlock, in mode: ModeName) -> Bool {
        block.modes.contains(mode)
            || block.modes.contains(.common) && commonModes.contains(mode)
    }
}
