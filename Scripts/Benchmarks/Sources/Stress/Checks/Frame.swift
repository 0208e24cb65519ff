import BenchSupport
import UVRunLoop

/// The actions of a run on the stack so far.
struct Frame {
    /// How far an observed pass has come.
    enum Step {
        case begun, entered, beforeTimers, beforeSources, beforeWaiting, afterWaiting, left
    }

    /// The items that a pass has handled.
    struct Pass {
        var blocks = 0
        var sources = 0
        var ports = 0
        var timers = 0
        /// The order of the latest source.
        var sourceOrder = Int.min
        /// The date of the latest timer.
        var timerDate = Int64.min
    }

    let mode: UVRunLoop.Mode
    let limit: Duration?
    let returnsAfterSource: Bool
    /// Whether observers tell of every step.
    let isObserved: Bool
    let start = now()
    /// How many stops others had asked for before it began.
    let pastStops: Int
    var step = Step.begun
    var pass = Pass()
    /// When the present pass began, or earlier if nobody observes passes.
    var passStart: Int64
    var passes = 0
    /// Whether a handler stopped the run.
    var wasStopped = false
    /// Custom and port-based sources that were handled, requests included.
    var handledSources = 0
    /// The first of the custom sources; requests are one.
    private var firstSource: SourceKind?

    /// The kind of a source in step 4.
    enum SourceKind { case custom, requests }

    init(
        _ mode: UVRunLoop.Mode,
        _ limit: Duration?,
        returnsAfterSource: Bool,
        isObserved: Bool,
        pastStops: Int
    ) {
        self.mode = mode
        self.limit = limit
        self.returnsAfterSource = returnsAfterSource
        self.isObserved = isObserved
        self.pastStops = pastStops
        passStart = start
    }

    /// A description of the run, in words.
    var name: String { "a run of \(mode.rawValue) for \(limit.map { "\($0)" } ?? "ever")" }

    var limitWasPast: Bool { limit.map { $0 <= .zero } ?? false }

    // MARK: The ten steps

    /// Takes down that the run has come to a step, which has to follow the one before.
    ///
    /// - Parameters:
    ///   - activity: The step.
    ///   - explainsPasses: Whether a pass without a wait needs a reason that can be seen here.
    mutating func advance(to activity: UVRunLoop.Activities, explainsPasses: Bool) {
        let next = Self.step(of: activity)
        demand(
            mayFollow(next),
            "a step that may follow '\(step)' in a run of \(mode.rawValue)",
            "'\(next)' after \(pass)"
        )
        if step == .beforeSources, explainsPasses, next == .beforeTimers || next == .left {
            demand(
                pass.sources + pass.ports + pass.timers > 0 || limitWasPast,
                "'beforeWaiting' in a pass that handled nothing and may wait",
                "'\(next)'"
            )
        }
        step = next
        if step == .beforeTimers {
            passes += 1
            pass = Pass()
            passStart = now()
        }
    }

    /// Takes down that the last observer was told of a step.
    func confirm(_ activity: UVRunLoop.Activities) {
        demand(
            step == Self.step(of: activity),
            "all observers to be told of '\(step)'",
            "the last one told of '\(Self.step(of: activity))'"
        )
    }

    private static func step(of activity: UVRunLoop.Activities) -> Step {
        switch activity {
        case .entry: .entered
        case .beforeTimers: .beforeTimers
        case .beforeSources: .beforeSources
        case .beforeWaiting: .beforeWaiting
        case .afterWaiting: .afterWaiting
        case .exit: .left
        default: Verdict.fail(expected: "one activity at a time", seen: "\(activity.rawValue)")
        }
    }

    private func mayFollow(_ next: Step) -> Bool {
        switch (step, next) {
        case (.begun, .entered), (.entered, .beforeTimers), (.beforeTimers, .beforeSources): true
        case (.beforeSources, .beforeTimers), (.afterWaiting, .beforeTimers): true
        // Steps 6 and 8 are left out when step 4 handled a source, and when the limit was past.
        case (.beforeSources, .beforeWaiting): pass.sources == 0 && pass.ports == 0 && !limitWasPast
        case (.beforeWaiting, .afterWaiting): true
        case (.beforeSources, .left), (.afterWaiting, .left): true
        // A run that was stopped on entry makes no pass. Others may stop it at any time.
        case (.entered, .left): true
        default: false
        }
    }

    // MARK: Items that passes handle

    mutating func noteBlock() {
        pass.blocks += 1
        guard isObserved else { return }
        demand(
            step == .beforeSources || step == .afterWaiting,
            "a block to run after step 3 or step 8",
            "one run at '\(step)'"
        )
    }

    mutating func noteSource(_ kind: SourceKind, order: Int) {
        handledSources += 1
        demand(
            !returnsAfterSource || firstSource == nil || (kind, firstSource) == (.requests, kind),
            "a run that returns after a source to perform one",
            "another one, of order \(order)"
        )
        firstSource = kind
        guard isObserved else { return }
        demand(step == .beforeSources, "a source to be performed in step 4", "one at '\(step)'")
        demand(
            order >= pass.sourceOrder,
            "the sources of a pass in their order, after \(pass.sourceOrder)",
            "one of order \(order)"
        )
        pass.sources += 1
        pass.sourceOrder = order
    }

    mutating func notePort() {
        handledSources += 1
        guard isObserved else { return }
        demand(
            step == .beforeSources || step == .afterWaiting,
            "a port to be served in step 9",
            "one at '\(step)'"
        )
        demand(
            pass.ports == 0 && pass.timers == 0,
            "one event of one port, or timers, in a pass",
            "one more port after \(pass)"
        )
        pass.ports += 1
    }

    /// - Parameter date: The date it fired for; `nil` if that may have been changed meanwhile.
    mutating func noteTimer(date: Int64?) {
        guard isObserved else { return }
        demand(
            step == .beforeSources || step == .afterWaiting,
            "a timer to fire in step 9",
            "one at '\(step)'"
        )
        demand(pass.ports == 0, "one event of one port, or timers, in a pass", "both: \(pass)")
        pass.timers += 1
        guard let date else { return }
        demand(
            date >= pass.timerDate,
            "the timers of a pass by their dates, after \(pass.timerDate)",
            "date \(date)"
        )
        pass.timerDate = date
    }
}
