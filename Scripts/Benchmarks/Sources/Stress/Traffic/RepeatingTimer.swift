import BenchSupport
import UVRunLoop

/// A timer of a thread's own loop that keeps to its grid of dates and accounts for each of them.
final class RepeatingTimer {
    private let worker: Worker
    private let interval: Int64
    private let modes: [UVRunLoop.Mode]
    private var timer: UVRunLoop.Timer?
    /// The first date of the grid.
    private var first: Int64 = 0
    /// How many dates the fires so far stand for.
    private var dates: Int64 = 0
    private var last = Int64.min
    private var firesLeft: Int
    private var isOnStack = false
    private(set) var hasEnded = false

    init(_ worker: Worker, _ generator: inout Generator) {
        self.worker = worker
        interval = Int64(generator.within(100_000...5_000_000))
        modes = generator.pick([[.default], [.common], [.default, Modes.apart]])
        firesLeft = generator.within(1...30)
        worker.workload.ledger(.timers).send()
        let timer = UVRunLoop.Timer(
            at: Clock.instant(now() + Int64(generator.below(2_000_000))),
            interval: .nanoseconds(interval)
        ) { [self] in fire($0) }
        self.timer = timer
        beginGrid()
        for mode in modes { worker.loop.add(timer, forMode: mode) }
    }

    private func beginGrid() {
        guard let timer else { return }
        first = Clock.nanoseconds(timer.nextFireDate)
        if Fault.leavesGrid.lasts(worker.settings.fault) { first -= 1 }
        (dates, last) = (0, .min)
    }

    // MARK: Changing it

    func setDate(_ generator: inout Generator) {
        guard !hasEnded, let timer else { return }
        timer.nextFireDate = Clock.instant(now() + Int64(generator.below(3_000_000)) - 500_000)
        worker.tally.count(.timersRedated)
        beginGrid()
    }

    func cancel() {
        guard !hasEnded, let timer else { return }
        timer.invalidate()
        hasEnded = true
        worker.tally.count(.timersCancelled)
        worker.didFinish(.timers)
    }

    // MARK: Firing

    private func fire(_ timer: UVRunLoop.Timer) {
        demand(
            !hasEnded,
            "no call of a timer after invalidate() returned on its loop's thread",
            "one"
        )
        demand(!isOnStack, "a timer not to fire within its own call", "that")
        isOnStack = true
        defer { isOnStack = false }
        let date = Clock.nanoseconds(timer.nextFireDate)
        worker.book.noteTimer(date: date)
        check(date, timer.missedFires)
        worker.tally.count(.timersRepeated)
        worker.tally.count(.timersMissed, timer.missedFires)
        firesLeft -= 1
        if firesLeft == 0 { return cancel() }
        worker.mayAct(UInt64(bitPattern: date))
        guard !hasEnded, date % 6 == 0 else { return }
        // A date set here is the next one.
        timer.nextFireDate = Clock.instant(now() + interval / 2)
        beginGrid()
    }

    private func check(_ date: Int64, _ missed: Int) {
        let now = now()
        demand(now >= date, "a timer not to fire before its date", "it do so by \(date - now) ns")
        demand(date > last, "the dates of a timer to increase from \(last)", "\(date)")
        demand(
            date >= first && (date - first) % interval == 0,
            "dates every \(interval) ns from \(first)",
            "\(date), which is \(date - first) ns on"
        )
        last = date
        dates += 1 + Int64(missed) + (Fault.miscountsMissed.strikes(worker.settings.fault) ? 1 : 0)
        let number = (date - first) / interval + 1
        demand(
            dates >= number,
            "fires and missed fires to stand for every date up to number \(number)",
            "\(dates)"
        )
        let latest = first + (dates - 1) * interval
        demand(
            latest <= now,
            "fires and missed fires to stand for dates that have passed",
            "\(dates), the last of which comes in \(latest - now) ns"
        )
        let passStart = worker.book.passStart
        demand(
            latest + interval > passStart,
            "fires and missed fires to stand for all dates before the pass",
            "\(dates), and the next was \(passStart - latest - interval) ns before it"
        )
    }

    func checkEnd() {
        demand(
            hasEnded && timer?.isValid == false,
            "a cancelled timer to be invalid",
            "a valid one"
        )
    }
}
