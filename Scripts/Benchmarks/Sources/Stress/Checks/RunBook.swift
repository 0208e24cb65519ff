import BenchSupport
import UVRunLoop

/// Runs a thread's loop, keeps book of what each run on the stack does, and checks how it ends.
///
/// Every call of a handler is noted here first, with the innermost run.
final class RunBook {
    let loop = UVRunLoop.current
    let tally: Tally
    /// How often other threads asked a run to stop.
    let stops = StopCount()
    private var stopsByOthers = 0
    private var frames: [Frame] = []
    /// Whether observers tell of every step.
    private var isObserved = false
    private var explainsPasses = false
    private var observers: [UVRunLoop.Observer] = []
    private var endsAllRuns = false
    private let fault: Fault?

    init(_ tally: Tally, fault: Fault?) {
        self.tally = tally
        self.fault = fault
    }

    var depth: Int { frames.count }
    var mode: UVRunLoop.Mode? { frames.last?.mode }

    /// Whether a run of a mode is on the stack.
    func isRunning(_ mode: UVRunLoop.Mode) -> Bool { frames.contains { $0.mode == mode } }

    /// Since when the present pass runs at the longest.
    var passStart: Int64 { frames.last?.passStart ?? .min }

    // MARK: Running

    @discardableResult
    func run(
        _ mode: UVRunLoop.Mode,
        for limit: Duration?,
        returnAfterSourceHandled: Bool = false
    ) -> UVRunLoop.RunResult {
        let slip: Duration = Fault.timesOutEarly.lasts(fault) ? .seconds(1) : .zero
        frames.append(
            Frame(
                mode,
                limit.map { $0 + slip },
                returnsAfterSource: returnAfterSourceHandled,
                isObserved: isObserved && Modes.observed.contains(mode),
                pastStops: stops.past
            )
        )
        let depth = frames.count
        let result = loop.run(
            mode: mode,
            for: limit,
            returnAfterSourceHandled: returnAfterSourceHandled
        )
        demand(
            frames.count == depth,
            "nested runs to end before outer ones",
            "\(frames.count) runs"
        )
        let frame = frames.removeLast()
        check(result, of: frame)
        checkStack()
        // A stop of all runs ends them from the innermost outwards.
        if endsAllRuns { if frames.isEmpty { endsAllRuns = false } else { stop() } }
        return result
    }

    /// Stops the innermost run.
    func stop() {
        guard !frames.isEmpty else { return }
        frames[frames.count - 1].wasStopped = !Fault.stopsUnasked.strikes(fault)
        if !Fault.forgetsStop.lasts(fault) { loop.stop() }
    }

    /// Stops all runs that are on the stack, one after the other.
    func stopAll() {
        guard !frames.isEmpty else { return }
        endsAllRuns = true
        stop()
    }

    private func check(_ result: UVRunLoop.RunResult, of frame: Frame) {
        demand(
            !frame.wasStopped || result == .stopped,
            "\(frame.name) that a handler stopped to say so",
            "\(result)"
        )
        switch result {
        case .stopped: checkStop(of: frame)
        case .handledSource:
            tally.count(.runsHandledSource)
            demand(
                frame.returnsAfterSource && frame.handledSources > 0,
                "\(frame.name) to say 'handledSource' after a source, if asked to",
                "\(frame)"
            )
        case .timedOut:
            tally.count(.runsTimedOut)
            checkUnhandled(frame, result)
            let elapsed = Duration.nanoseconds(now() - frame.start)
            demand(
                frame.limit.map { elapsed >= $0 } ?? false,
                "\(frame.name) not to time out before its limit",
                "it do so after \(elapsed)"
            )
        case .finished:
            tally.count(.runsFinished)
            checkUnhandled(frame, result)
            demand(
                Modes.mayBeEmpty.contains(frame.mode),
                "\(frame.name), which is not empty, not to finish",
                "\(result)"
            )
        }
        checkSteps(of: frame, result)
    }

    private func checkStop(of frame: Frame) {
        tally.count(.runsStopped)
        guard !frame.wasStopped else { return }
        stopsByOthers += 1
        demand(
            stopsByOthers <= stops.total && frame.pastStops < stops.total,
            "\(frame.name) to go on, because nobody stopped it",
            "'stopped'"
        )
    }

    private func checkUnhandled(_ frame: Frame, _ result: UVRunLoop.RunResult) {
        demand(
            !frame.returnsAfterSource || frame.handledSources == 0,
            "\(frame.name) to say 'handledSource' after one",
            "\(result)"
        )
    }

    private func checkSteps(of frame: Frame, _ result: UVRunLoop.RunResult) {
        guard frame.isObserved else { return }
        demand(
            frame.step == .left || (frame.step == .begun && result == .finished),
            "\(frame.name) to tell of its exit",
            "'\(frame.step)' last"
        )
        demand(
            !frame.limitWasPast || frame.passes == 1 || result == .stopped,
            "one pass of \(frame.name)",
            "\(frame.passes)"
        )
    }

    private func checkStack() {
        demand(
            loop.nestingLevel == frames.count && loop.currentMode == frames.last?.mode,
            "level \(frames.count) in \(frames.last?.mode.rawValue ?? "no mode") after a run",
            "level \(loop.nestingLevel) in \(loop.currentMode?.rawValue ?? "no mode")"
        )
    }

    // MARK: Observing

    /// Has every step of runs told from now on, by two observers around all others.
    ///
    /// - Parameter explainsPasses: Whether a pass that does not wait has a reason seen here:
    ///   nobody takes away what it was about to handle.
    func observe(explainsPasses: Bool) {
        isObserved = true
        self.explainsPasses = explainsPasses
        let first = UVRunLoop.Observer(activities: .all, order: -1_000) { [unowned self] _, step in
            noteFirst(step)
        }
        let last = UVRunLoop.Observer(activities: .all, order: 1_000) { [unowned self] _, step in
            noteLast(step)
        }
        observers = [first, last]
        for observer in observers {
            for mode in Modes.observed { loop.add(observer, forMode: mode) }
        }
    }

    func endObserving() {
        isObserved = false
        for observer in observers { observer.invalidate() }
        observers = []
    }

    private func noteFirst(_ activity: UVRunLoop.Activities) {
        if activity == .beforeSources, Fault.skipsStep.strikes(fault) { return }
        guard !hides(activity) else { return }
        if activity == .beforeTimers { tally.count(.passes) }
        if activity == .afterWaiting { tally.count(.waits) }
        checkStack()
        modify { $0.advance(to: activity, explainsPasses: explainsPasses) }
    }

    private func noteLast(_ activity: UVRunLoop.Activities) {
        guard !hides(activity) else { return }
        checkStack()
        modify { $0.confirm(activity) }
    }

    /// Whether a step is to go unseen, on purpose.
    private func hides(_ activity: UVRunLoop.Activities) -> Bool {
        fault == .skipsWait && explainsPasses && [.beforeWaiting, .afterWaiting].contains(activity)
    }

    // MARK: Handlers

    func noteBlock() { modify { $0.noteBlock() } }

    func noteSource(order: Int) {
        if Fault.hidesSource.lasts(fault) { return }
        modify { $0.noteSource(.custom, order: order) }
    }

    func noteRequest() { modify { $0.noteSource(.requests, order: 0) } }

    func notePort() { modify { $0.notePort() } }

    func noteTimer(date: Int64?) { modify { $0.noteTimer(date: date) } }

    private func modify(_ body: (inout Frame) -> Void) {
        demand(!frames.isEmpty, "handlers to be called in a run", "a call outside of all runs")
        body(&frames[frames.count - 1])
    }
}

/// The modes in which loops run here.
enum Modes {
    /// A second common mode.
    static let other = UVRunLoop.Mode("stress, other")
    /// One that is not common.
    static let apart = UVRunLoop.Mode("stress, apart")
    /// One that holds something now and then.
    static let scratch = UVRunLoop.Mode("stress, scratch")
    /// One that never holds anything.
    static let unused = UVRunLoop.Mode("stress, unused")

    static let observed: [UVRunLoop.Mode] = [.default, other, apart]
    /// `.common` itself cannot be run.
    static let mayBeEmpty: [UVRunLoop.Mode] = [scratch, unused, .common]
}
