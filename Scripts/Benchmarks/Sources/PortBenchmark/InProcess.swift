import BenchSupport
import UVRunLoop

/// Messages through an in-process port, beside blocks through `perform`.
enum InProcess {
    static let count = 1_000_000

    /// Measures both in turns, round by round, and prints the medians.
    static func run(rounds: Int, producers: Int) {
        var blocks: [Double] = []
        var messages: [Double] = []
        for _ in 0..<rounds {
            blocks.append(onOwnThread { performRate(producers) })
            messages.append(onOwnThread { portRate(producers) })
        }
        let ratios = zip(messages, blocks).map { $0 / $1 }
        print(
            """
            \(producers) producer\(producers == 1 ? "" : "s"): \
            perform \(millions(blocks)) M/s · port \(millions(messages)) M/s · \
            port/perform \(Text.decimal(ratios.median, 2))
            """
        )
    }

    private static func millions(_ rates: [Double]) -> String {
        let values = rates.map { $0 / 1e6 }
        return "\(Text.decimal(values.median, 2)) (\(Table.spread(values)))"
    }

    private static func performRate(_ producers: Int) -> Double {
        let counter = Counter(UVRunLoop.current)
        let keeper = UVRunLoop.Source(sendablePerform: { _ in })
        counter.loop.add(keeper, forMode: .default)
        return rate(producers, counter) { counter.loop.perform { counter.countOne() } }
    }

    private static func portRate(_ producers: Int) -> Double {
        let counter = Counter(UVRunLoop.current)
        let port = UVRunLoop.Port(sendableHandler: { _, _ in counter.countOne() })
        counter.loop.add(port, forMode: .default)
        return rate(producers, counter) { _ = port.send(UVRunLoop.PortMessage(id: 1)) }
    }

    private static func rate(
        _ producers: Int,
        _ counter: Counter,
        _ produce: @escaping @Sendable () -> Void
    ) -> Double {
        let start = now()
        let threads = (0..<producers).map { _ in
            PosixThread { for _ in 0..<count / producers { produce() } }
        }
        counter.loop.run()
        let time = now() - start
        threads.forEach { $0.join() }
        return Double(count) / Double(time) * 1e9
    }

    /// Counts on the loop's thread, and stops it at the end.
    private final class Counter: @unchecked Sendable {
        let loop: UVRunLoop
        private var number = 0

        init(_ loop: UVRunLoop) { self.loop = loop }

        func countOne() {
            number += 1
            if number == InProcess.count { loop.stop() }
        }
    }
}
