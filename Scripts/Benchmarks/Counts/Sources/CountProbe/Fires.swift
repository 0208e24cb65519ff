import UVRunLoop

extension Operation {
    /// Fires that a loop sleeps for.
    static let fires = [
        Operation("repeat", "a precise fire of a repeating timer", count: 100, needsTime: true) {
            loop in
            repeatingFires(loop, tolerance: .zero)
        },
        Operation("repeat.tolerant", "a fire with 2 ms of tolerance", count: 100, needsTime: true) {
            loop in
            repeatingFires(loop, tolerance: .milliseconds(2))
        },
        Operation(
            "oneshot",
            "a precise fire of a timer made by the one before",
            count: 100,
            needsTime: true
        ) { loop in
            loop.keep()
            let series = OneShots(loop)
            return { count, round in round.loop { series.run(count) } }
        },
    ]

    private static func repeatingFires(_ loop: UVRunLoop, tolerance: Duration) -> Rounds {
        loop.keep()
        let countdown = Countdown(loop)
        return { count, round in
            let timer = UVRunLoop.Timer(
                after: .milliseconds(5),
                interval: .milliseconds(5),
                tolerance: tolerance,
                handler: { _ in countdown.countOne() }
            )
            loop.add(timer, forMode: .default)
            round.loop { countdown.run(count) }
            timer.invalidate()
        }
    }
}

/// Timers that fire once, each of which adds the next.
private final class OneShots {
    private let countdown: Countdown

    init(_ loop: UVRunLoop) { countdown = Countdown(loop) }

    func run(_ count: Int) {
        addNext()
        countdown.run(count)
    }

    private func addNext() {
        let timer = UVRunLoop.Timer(after: .milliseconds(2), handler: { _ in self.didFire() })
        countdown.loop.add(timer, forMode: .default)
    }

    private func didFire() {
        countdown.countOne()
        if countdown.rest > 0 { addNext() }
    }
}
