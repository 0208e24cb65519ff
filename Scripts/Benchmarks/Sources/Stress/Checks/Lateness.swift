import BenchSupport
import Histogram

/// How late things happened, in nanoseconds.
struct Lateness: Sendable {
    /// From its date to a timer's call.
    var timers = Histogram<UInt64>(numberOfSignificantValueDigits: .two)
    /// From its posting to a block's call.
    var blocks = Histogram<UInt64>(numberOfSignificantValueDigits: .two)
    /// From its sending to a message's delivery.
    var messages = Histogram<UInt64>(numberOfSignificantValueDigits: .two)

    mutating func add(_ other: Lateness) {
        timers.add(other.timers)
        blocks.add(other.blocks)
        messages.add(other.messages)
    }

    /// The percentiles of each, as lines of a table.
    var lines: [String] {
        let rows = [("timers", timers), ("blocks", blocks), ("messages", messages)]
            .filter { $0.1.totalCount > 0 }
        guard !rows.isEmpty else { return [] }
        let titles = ["p50", "p90", "p99", "p99.9", "most"].map { Text.right($0, 10) }.joined()
        return [Text.left("lateness, ms", 16) + titles] + rows.map { Self.line($0, $1) }
    }

    private static func line(_ name: String, _ histogram: Histogram<UInt64>) -> String {
        let values = [50, 90, 99, 99.9].map { histogram.valueAtPercentile($0) } + [histogram.max]
        let columns = values.map { Text.right(Text.decimal(Double($0) / 1e6, 3), 10) }
        return Text.left("  \(name)", 16) + columns.joined()
    }
}
