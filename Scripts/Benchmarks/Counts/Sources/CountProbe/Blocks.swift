import UVRunLoop

extension Operation {
    static let blocks = [
        Operation("perform.own", "a block that one of the same thread handed over", count: 1_000) {
            loop in
            loop.keep()
            let relay = Relay(loop)
            return { count, round in round.loop { relay.run(count) } }
        },
        posted("perform", "a block of another thread, in batches of 100") { loop, counter in
            for _ in 0..<100 { loop.perform { counter.countOne() } }
        },
        posted("perform.common", "the same for the common modes") { loop, counter in
            for _ in 0..<100 { loop.perform(inModes: [.common]) { counter.countOne() } }
        },
    ]

    private static func posted(
        _ name: String,
        _ text: String,
        _ post: @escaping @Sendable (UVRunLoop, Counter) -> Void
    ) -> Operation {
        Operation(name, text, count: 1_000, batch: 100) { loop in
            loop.keep()
            let counter = Counter()
            return { count, round in
                for _ in 0..<count / 100 {
                    // While the sender hands over, the loop is awake, and waits for it.
                    PosixThread { round.sender { post(loop, counter) } }.join()
                    round.loop { loop.makePass() }
                }
                precondition(counter.take() == count, "Blocks were not performed.")
            }
        }
    }
}

/// A block that hands itself over again and again.
///
/// Unchecked, because it stays on the loop's thread.
private final class Relay: @unchecked Sendable {
    private let countdown: Countdown

    init(_ loop: UVRunLoop) { countdown = Countdown(loop) }

    func run(_ count: Int) {
        handOver()
        countdown.run(count)
    }

    private func handOver() {
        countdown.loop.perform {
            self.countdown.countOne()
            if self.countdown.rest > 0 { self.handOver() }
        }
    }
}
