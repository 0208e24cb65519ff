import Injection
import UVRunLoop

extension Corner {
    static let stops = [
        Corner("a process that is stopped") { scale in
            let pause = Duration.milliseconds(scale > 1 ? 5_000 : 300)
            let loop = UVRunLoop.current
            let count = TimerCount(loop, interval: .milliseconds(1))
            let blocks = Counter()
            let sender = startSender(loop, blocks)
            let due = (0..<20).map { UVRunLoop.Instant.now + .milliseconds(20 + 5 * $0) }
            let order = fireOnce(loop, at: due.shuffled())
            loop.run(for: .milliseconds(10))
            let stop = clock_stop_process(Int(pause / .milliseconds(1)))
            let end = UVRunLoop.Instant.now + pause + .milliseconds(50)
            loop.run(until: end)
            clock_await_stop(stop)
            sender.join()
            loop.run(for: .milliseconds(10))
            try count.check()
            if blocks.value != 2_000 { throw Missing(what: "\(2_000 - blocks.value) blocks") }
            if order.current != due { throw Wrong(what: "one-shots fired in another order") }
            let fewest = Int(pause / .milliseconds(1)) / 2
            if count.mostMissed < fewest {
                throw Missing(what: "dates folded into one fire: \(count.mostMissed)")
            }
        }
    ]
}

/// Hands over 2,000 blocks, a little at a time.
private func startSender(_ loop: UVRunLoop, _ blocks: Counter) -> PlainThread {
    PlainThread {
        for _ in 0..<200 {
            for _ in 0..<10 { loop.perform { blocks.add() } }
            work_sleep(200)
        }
    }
}

/// Has one-shot timers fire, and notes in which order.
private func fireOnce(
    _ loop: UVRunLoop,
    at dates: [UVRunLoop.Instant]
) -> Shared<[UVRunLoop.Instant]> {
    let order = Shared<[UVRunLoop.Instant]>([])
    for date in dates {
        let timer = UVRunLoop.Timer(at: date) { _ in order.change { $0.append(date) } }
        loop.add(timer, forMode: .default)
    }
    return order
}

/// A repeating timer whose fires and missed fires are all its dates.
final class TimerCount {
    private let begin: UVRunLoop.Instant
    private let interval: Duration
    private var passed = 0
    private var isEarly = false
    private(set) var mostMissed = 0
    private var timer: UVRunLoop.Timer?

    init(_ loop: UVRunLoop, interval: Duration) {
        begin = .now + interval
        self.interval = interval
        let timer = UVRunLoop.Timer(at: begin, interval: interval) { [unowned self] timer in
            passed += 1 + timer.missedFires
            mostMissed = max(mostMissed, timer.missedFires)
            isEarly = isEarly || UVRunLoop.Instant.now < begin + interval * (passed - 1)
        }
        loop.add(timer, forMode: .default)
        self.timer = timer
    }

    /// Ends it; fires and missed fires have to be the dates up to the next one.
    func check() throws {
        guard let next = timer?.nextFireDate else { return }
        timer?.invalidate()
        if isEarly { throw Wrong(what: "a timer fired early") }
        if begin + interval * passed != next {
            throw Wrong(what: "\(passed) dates were fired for, and the next is \(next - begin)")
        }
    }
}
