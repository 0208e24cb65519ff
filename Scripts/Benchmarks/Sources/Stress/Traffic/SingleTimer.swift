import BenchSupport
import UVRunLoop

/// A timer of a thread's own loop that fires once.
final class SingleTimer {
    private enum State { case waiting, fired, cancelled }

    private let worker: Worker
    private let modes: [UVRunLoop.Mode]
    private let place: Workload.Place
    private let hasTolerance: Bool
    private var timer: UVRunLoop.Timer?
    private var date: Int64 = 0
    private var state = State.waiting
    private var isOut = false

    init(_ worker: Worker, _ generator: inout Generator) {
        self.worker = worker
        modes = generator.pick([[.default], [.common], [.default, Modes.apart], [Modes.apart]])
        place = modes == [Modes.apart] ? .apart : .atHand
        hasTolerance = generator.once(in: 4)
        worker.workload.ledger(.timers, place).send()
        make(&generator)
        for mode in modes { if let timer { worker.loop.add(timer, forMode: mode) } }
    }

    var hasEnded: Bool { state != .waiting }

    private func make(_ generator: inout Generator) {
        let tolerance: Duration = hasTolerance ? .microseconds(generator.below(5_000)) : .zero
        let start = now()
        let wanted = start + Self.delay(&generator)
        let timer = UVRunLoop.Timer(
            at: Clock.instant(wanted),
            tolerance: tolerance
        ) { [self] in fire($0) }
        self.timer = timer
        noteDate(wanted, since: start)
    }

    /// Mostly soon; sometimes past already.
    private static func delay(_ generator: inout Generator) -> Int64 {
        switch generator.below(8) {
        case 0: -Int64(generator.below(1_000_000))
        case 1: Int64(generator.below(20_000_000))
        case 2, 3: Int64(generator.below(100_000))
        default: Int64(generator.below(3_000_000))
        }
    }

    /// Takes down the date that was really set: one in the past becomes now.
    private func noteDate(_ wanted: Int64, since start: Int64) {
        guard let timer else { return }
        date = Clock.nanoseconds(timer.nextFireDate)
        let (soonest, latest) = (max(wanted, start), max(wanted, now()))
        demand(
            date >= soonest && date <= latest,
            "a timer that is set for \(wanted) to show a date from \(soonest) to \(latest)",
            "\(date)"
        )
        if Fault.firesEarly.lasts(worker.settings.fault) { date += 1_000_000_000 }
    }

    // MARK: Changing it

    func setDate(_ generator: inout Generator) {
        guard state == .waiting, let timer else { return }
        let start = now()
        let wanted = start + Self.delay(&generator)
        timer.nextFireDate = Clock.instant(wanted)
        worker.tally.count(.timersRedated)
        noteDate(wanted, since: start)
    }

    func cancel() {
        guard state == .waiting, let timer else { return }
        if !Fault.firesAfterCancel.lasts(worker.settings.fault) { timer.invalidate() }
        state = .cancelled
        worker.tally.count(.timersCancelled)
        worker.didFinish(.timers, place)
    }

    func takeOut() {
        guard state == .waiting, !isOut, let timer else { return }
        isOut = true
        for mode in modes { worker.loop.remove(timer, forMode: mode) }
        demand(
            !modes.contains { worker.loop.contains(timer, forMode: $0) },
            "a timer not to be in modes that it was removed from",
            "it there"
        )
    }

    func putIn() {
        guard state == .waiting, isOut, let timer else { return }
        isOut = false
        if Fault.losesTimer.strikes(worker.settings.fault) { return }
        for mode in modes { worker.loop.add(timer, forMode: mode) }
        demand(
            modes.allSatisfy { worker.loop.contains(timer, forMode: $0) },
            "a timer to be in the modes that it was added to",
            "it missing"
        )
    }

    // MARK: Firing

    private func fire(_ timer: UVRunLoop.Timer) {
        let now = now()
        demand(
            state != .cancelled,
            "no call of a timer after invalidate() returned on its loop's thread",
            "one"
        )
        demand(state == .waiting && timer.isValid, "a timer without interval to fire once", "twice")
        demand(!isOut, "no call of a timer that is in no mode", "one")
        worker.book.noteTimer(date: date)
        demand(
            now >= date,
            "a timer not to fire before its date",
            "it do so by \(date - now) ns"
        )
        demand(
            Clock.nanoseconds(timer.nextFireDate) == date,
            "the date being fired, \(date), to be the timer's next",
            "\(Clock.nanoseconds(timer.nextFireDate))"
        )
        checkMode()
        state = .fired
        // No date revives it.
        if date % 8 == 0 { timer.nextFireDate = Clock.instant(now) }
        if !hasTolerance { worker.lateness.timers.record(UInt64(now - date)) }
        worker.tally.count(.timersFired)
        if Fault.firesTwice.strikes(worker.settings.fault) { fire(timer) }
        worker.mayAct(UInt64(bitPattern: date))
        worker.didFinish(.timers, place)
    }

    private func checkMode() {
        let common: [UVRunLoop.Mode] = [.default, Modes.other]
        let allowed = modes == [.common] ? common : modes
        demand(
            worker.book.mode.map(allowed.contains) ?? false,
            "a timer in \(allowed.map(\.rawValue)) to fire in one of these modes",
            "it fire in \(worker.book.mode?.rawValue ?? "none")"
        )
    }

    func checkEnd() {
        demand(state != .waiting, "every timer to fire that was not cancelled", "one that did not")
        demand(timer?.isValid == false, "a timer that has fired to be invalid", "a valid one")
    }
}
