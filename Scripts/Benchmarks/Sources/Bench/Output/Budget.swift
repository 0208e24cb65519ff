import BenchSupport
import Results

/// The rows of the design's budget that are ratios or counts, and whether they are met.
struct Budget {
    let findings: Findings
    /// Whether everything was to be measured, so that what was not is worth a line.
    let isWhole: Bool

    private var results: Results { findings.results }

    func print() {
        var table = TextTable(["", "bound", "measured", ""], words: 1)
        let lines = lines.filter { isWhole || $0.measured != nil }
        guard !lines.isEmpty else { return }
        for line in lines { table.add(line.cells) }
        Swift.print("budget: The design's bounds, by medians of this run")
        Swift.print(table.text, terminator: "\n\n")
    }

    private struct Line {
        enum Bound {
            case atMost(Double)
            case atLeast(Double)
        }

        let title: String
        let bound: Bound
        let unit: String
        let measured: Double?
        var forgiven = 0.0

        var cells: [String] {
            guard let measured else { return [title, limit, "not run", ""] }
            return [title, limit, figure(measured), isMet(measured) ? "met" : "NOT MET"]
        }

        private var limit: String {
            switch bound {
            case .atMost(let value): "≤ \(figure(value))"
            case .atLeast(let value): "≥ \(figure(value))"
            }
        }

        private func isMet(_ value: Double) -> Bool {
            switch bound {
            case .atMost(let limit): value <= limit + forgiven
            case .atLeast(let limit): value >= limit
            }
        }

        private func figure(_ value: Double) -> String { Figures.threeDigits(value) + unit }
    }

    private var lines: [Line] {
        passes + timers + lateness + others + tasks + memory + counts
    }

    // MARK: Ratios

    private func line(
        _ title: String,
        _ bound: Line.Bound,
        _ ours: Double?,
        _ theirs: Double?,
        unit: String = " ×"
    ) -> Line {
        var ratio: Double?
        if let ours, let theirs, theirs > 0 { ratio = ours / theirs }
        return Line(title: title, bound: bound, unit: unit, measured: ratio)
    }

    /// How much more of our time than of a peer's, or of their rate than of ours, by job.
    private func line(
        _ title: String,
        _ bound: Line.Bound,
        _ job: String,
        over system: System,
        size: Int? = nil
    ) -> Line {
        line(title, bound, results.median(job, .uvRunLoop, size), results.median(job, system, size))
    }

    private var passes: [Line] {
        let pass = results.median("pass", .libuv)
        return [
            line("pass / libuv", .atMost(1.1), results.median("pass", .uvRunLoop), pass),
            line(
                "pass.observed / libuv's pass",
                .atMost(1.3),
                results.median("pass.observed", .uvRunLoop),
                pass
            ),
            line(
                "modes, 10,000 items / 1 item",
                .atMost(1.2),
                results.median("modes", .uvRunLoop, 10_000),
                results.median("modes", .uvRunLoop, 1)
            ),
            line(
                "runs: CFRunLoop's time / ours",
                .atLeast(20),
                results.median("runs", .cfRunLoop),
                results.median("runs", .uvRunLoop)
            ),
        ]
    }

    private var timers: [Line] {
        let bounds = [
            ("timers.insert", 1.5, 10_000...Int.max),
            ("timers.fire", 1.2, 1_000...1_000),
            ("timers.fire", 0.6, 100_000...Int.max),
            ("timers.cancel", 1, 10_000...Int.max),
        ]
        return bounds.flatMap { job, bound, sizes in
            results.sizes(job, .uvRunLoop).filter(sizes.contains).map { size in
                let title = "\(job), \(Text.grouped(size)) / libuv"
                return line(title, .atMost(bound), job, over: .libuv, size: size)
            }
        }
    }

    private var lateness: [Line] {
        let bounds = [("lateness.idle", 1), ("lateness.busy", 1), ("lateness.load", 1.2)]
        let ratios = bounds.flatMap { job, bound in
            [50.0, 99].map { percent in
                let peers = System.allCases.filter { $0 != .uvRunLoop }
                let best = peers.compactMap { results.percentile(percent, job, $0) }.min()
                return line(
                    "\(job) p\(Figures.plain(percent)) / the best peer's",
                    .atMost(bound),
                    results.percentile(percent, job, .uvRunLoop),
                    best
                )
            }
        }
        let early = findings.early.filter { $0.system == .uvRunLoop }.map(\.count)
        let count = early.isEmpty ? nil : Double(early.reduce(0, +))
        return ratios
            + [Line(title: "timers that were early", bound: .atMost(0), unit: "", measured: count)]
    }

    private var others: [Line] {
        [
            line("perform, 1 producer / SwiftNIO", .atLeast(2), "perform", over: .nio, size: 1),
            line("perform, 4 producers / SwiftNIO", .atLeast(1.5), "perform", over: .nio, size: 4),
            line(
                "perform, 1 producer / CFRunLoop",
                .atLeast(10),
                "perform",
                over: .cfRunLoop,
                size: 1
            ),
            line("pingpong / libuv", .atMost(1), "pingpong", over: .libuv),
            line("wake.onecore / SwiftNIO", .atMost(1.1), "wake.onecore", over: .nio),
            line("thread / libuv", .atMost(1.3), "thread", over: .libuv),
        ]
            + results.sizes("descriptors", .uvRunLoop).map { size in
                let title = "descriptors, \(Text.grouped(size)) idle / libuv"
                return line(title, .atMost(1.25), "descriptors", over: .libuv, size: size)
            }
    }

    private var tasks: [Line] {
        func ours(_ job: String, _ size: Int? = nil) -> Double? {
            results.median(job, .uvRunLoop, size)
        }
        func later(_ percent: String) -> Double? {
            guard let sleep = ours("tasks.sleep.\(percent)"),
                let timer = ours("tasks.timer.\(percent)")
            else { return nil }
            return (sleep - timer) / 1_000
        }
        let p99 = ours("tasks.yield.p99", 100_000).map { $0 / 1_000_000 }
        return [
            line("tasks.await / an actor on SwiftNIO", .atMost(0.2), "tasks.await", over: .nio),
            line("tasks.answer / an actor on SwiftNIO", .atMost(0.2), "tasks.answer", over: .nio),
            Line(
                title: "tasks.actor: an actor's call of another one on its loop",
                bound: .atMost(25),
                unit: " ns",
                measured: ours("tasks.actor")
            ),
            line(
                "tasks.readiness / a handler",
                .atMost(1.6),
                ours("tasks.readiness"),
                ours("tasks.readiness.handler")
            ),
            line("tasks.hops / SwiftNIO", .atMost(1.1), "tasks.hops", over: .nio),
            Line(
                title: "tasks.sleep p50, later than a timer",
                bound: .atMost(15),
                unit: " µs",
                measured: later("p50")
            ),
            Line(
                title: "tasks.sleep p99, later than a timer",
                bound: .atMost(15),
                unit: " µs",
                measured: later("p99")
            ),
            Line(
                title: "tasks.yield p99, beside 100,000 tasks",
                bound: .atMost(2),
                unit: " ms",
                measured: p99
            ),
        ]
    }

    private var memory: [Line] {
        let bytes = results.median("timers.memory", .uvRunLoop)
        return [
            Line(
                title: "memory of a timer, handler included",
                bound: .atMost(200),
                unit: " B",
                measured: bytes
            )
        ]
    }

    // MARK: Counts

    /// A tenth more on average is forgiven: threads that meet at a lock, because they are watched.
    private var counts: [Line] {
        guard !results.counts.isEmpty else { return [] }
        return Operation.allCases.compactMap { operation in
            guard let bound = operation.budget else { return nil }
            return Line(
                title: "system calls: \(operation.title)",
                bound: .atMost(bound),
                unit: "",
                measured: results.count(operation.rawValue, .uvRunLoop),
                forgiven: 0.1
            )
        }
    }
}
