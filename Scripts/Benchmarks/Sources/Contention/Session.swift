import BenchSupport
import Glibc

/// Measures calls and prints what they cost.
struct Session {
    let calls: [Call]
    let threads: [Int]
    let rounds: Int
    /// For how many nanoseconds threads call in one measurement.
    let duration: Int64

    /// Measures every call and prints a table; returns whether a bound was exceeded.
    func measure(_ title: String) -> Bool {
        print("\(title), ns for each completed call:")
        print(TableLine.header(threads))
        var isOver = false
        for call in calls {
            let line = TableLine(call, costs(of: call))
            print(line.text)
            fflush(nil)
            if line.isOver { isOver = true }
        }
        print("")
        return isOver
    }

    /// The costs of a call with each number of threads, which take turns round by round.
    private func costs(of call: Call) -> [Cost] {
        let all = (0..<rounds).map { _ in
            threads.map { Measurement(call: call, threads: $0, duration: duration).run() }
        }
        return threads.indices.map { index in
            let costs = all.map { $0[index] }
            // Other processes take turns on the machine: they add to the time that passes.
            return Cost(
                processor: costs.map(\.processor).median,
                passed: costs.map(\.passed).min() ?? 0
            )
        }
    }
}

/// Nanoseconds for each completed call.
struct Cost: Sendable {
    /// Processor time of the process.
    let processor: Double
    /// Time that passed.
    let passed: Double
}

/// The costs of one call with each number of threads.
struct TableLine {
    /// A figure below this, in nanoseconds, counts as this when others are compared with it.
    private static let floor = 20.0
    private static let mostProcessor = 3.0
    /// No more time may pass than with one thread; a tenth is what measurements differ by.
    private static let mostPassed = 1.1

    private let call: Call
    private let costs: [Cost]

    init(_ call: Call, _ costs: [Cost]) {
        self.call = call
        self.costs = costs
    }

    static func header(_ threads: [Int]) -> String {
        let counts = threads.map { "\($0) thr." }
        return line("", ["CPU:"] + counts + ["ratio", "passed:"] + counts + ["ratio"], "")
    }

    var isOver: Bool {
        !call.isPeers && (processorRatio > Self.mostProcessor || passedRatio > Self.mostPassed)
    }

    var text: String {
        let processor = costs.map { Self.figure($0.processor) } + [Self.figure(processorRatio)]
        let passed = costs.map { Self.figure($0.passed) } + [Self.figure(passedRatio)]
        let verdict = call.isPeers ? "" : isOver ? "OVER" : "ok"
        return Self.line(call.name, [""] + processor + [""] + passed, verdict)
    }

    private var processorRatio: Double { ratio(\.processor) }
    private var passedRatio: Double { ratio(\.passed) }

    private func ratio(_ figure: KeyPath<Cost, Double>) -> Double {
        guard let one = costs.first, let most = costs.last else { return 0 }
        return most[keyPath: figure] / max(one[keyPath: figure], Self.floor)
    }

    private static func figure(_ value: Double) -> String {
        Text.decimal(value, value < 100 ? 1 : 0)
    }

    private static func line(_ name: String, _ cells: [String], _ verdict: String) -> String {
        let columns = cells.map { " " + Text.right($0, 8) }
        return "  " + Text.left(name, 45) + " " + columns.joined() + "  " + verdict
    }
}
