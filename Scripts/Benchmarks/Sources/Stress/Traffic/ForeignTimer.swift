import BenchSupport
import UVRunLoop

/// A timer that one thread keeps in the loop of another, and re-dates and cancels there.
///
/// A call that had begun when another thread cancelled or re-dated the timer is no failure: it is
/// one that the loop had decided on in a pass that began before that.
final class ForeignTimer: Sendable {
    private enum Outcome { case waiting, fired, cancelled, firedAndCancelled }

    private struct State {
        var timer: UVRunLoop.Timer?
        /// The date that holds, and no later than it.
        var date: Int64 = 0
        /// Dates that held until a moment.
        var formerly: [(date: Int64, until: Int64)] = []
        /// The soonest of those that held before these, and until when one of them did.
        var earlier = (date: Int64.max, until: Int64.min)
        var outcome = Outcome.waiting
        var cancellation: Int64 = 0
    }

    private let workload: Workload
    private let fault: Fault?
    private let state = Locked(State())

    init(in workload: Workload, _ fault: Fault?) {
        self.workload = workload
        self.fault = fault
    }

    var hasEnded: Bool { state.withLock { $0.outcome != .waiting } }

    func start(_ generator: inout Generator) {
        workload.ledger(.timers).send()
        let date = now() + Int64(generator.below(5_000_000))
        let timer = UVRunLoop.Timer(
            at: Clock.instant(date),
            tolerance: generator.once(in: 4) ? .milliseconds(2) : .zero,
            sendableHandler: { [self] _ in fire() }
        )
        state.withLock { ($0.timer, $0.date) = (timer, date) }
        workload.loop.add(timer, forMode: generator.once(in: 2) ? .default : .common)
    }

    func setDate(_ generator: inout Generator) {
        let delay = Int64(generator.below(6_000_000)) - 1_000_000
        state.withLock { state in
            guard state.outcome == .waiting, let timer = state.timer else { return }
            let start = now()
            timer.nextFireDate = Clock.instant(start + delay)
            state.formerly.append((state.date, now()))
            state.date = start + max(0, delay)
            guard state.formerly.count > 16 else { return }
            let dropped = state.formerly.removeFirst()
            state.earlier = (min(state.earlier.date, dropped.date), dropped.until)
        }
    }

    /// Answers whether the timer had not fired by then.
    func cancel() -> Bool {
        let timer = state.withLock { $0.timer }
        let isSpared = Fault.firesAfterForeignCancel.lasts(fault)
        if !isSpared { timer?.invalidate() }
        let isFirst = state.withLock { state in
            guard state.outcome == .waiting else { return false }
            (state.outcome, state.cancellation) = (.cancelled, now())
            return true
        }
        if isFirst { workload.ledger(.timers).finish() }
        return isFirst
    }

    private func fire() {
        let worker = workload.worker.value
        worker.book.noteTimer(date: nil)
        let (now, passStart) = (now(), worker.book.passStart)
        let isFirst = state.withLock { state in
            check(state, now, passStart)
            let isFirst = state.outcome == .waiting
            state.outcome = isFirst ? .fired : .firedAndCancelled
            return isFirst
        }
        worker.tally.count(.timersFired)
        if isFirst { worker.didFinish(.timers) }
    }

    private func check(_ state: State, _ now: Int64, _ passStart: Int64) {
        let former = ([state.earlier] + state.formerly).filter { $0.until >= passStart }
        let held = former.map(\.date) + [state.date]
        demand(
            held.contains { $0 <= now },
            "a timer that another thread re-dates not to fire before a date that holds",
            "it do so by \(held.map { $0 - now }) ns, after \(state.formerly.count) dates"
        )
        switch state.outcome {
        case .waiting: break
        case .cancelled:
            demand(
                state.cancellation >= passStart,
                "no call of a timer in a pass that began after invalidate() had returned",
                "one \(passStart - state.cancellation) ns after it"
            )
        case .fired, .firedAndCancelled:
            Verdict.fail(expected: "a timer without interval to fire once", seen: "twice")
        }
    }

    func checkEnd() {
        state.withLock { state in
            demand(
                state.outcome != .waiting && state.timer?.isValid == false,
                "every timer to have fired or been cancelled",
                "one that is '\(state.outcome)', valid: \(state.timer?.isValid ?? false)"
            )
            state.timer = nil
        }
    }
}
