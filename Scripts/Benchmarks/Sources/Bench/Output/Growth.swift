import BenchSupport
import Results

/// How much more one operation costs among many than among few.
struct Growth {
    let results: Results

    private static let jobs = [
        "modes", "timers.insert", "timers.fire", "timers.cancel", "timers.redate", "descriptors",
        "nested", "growth.sources", "growth.modes", "growth.threads", "growth.descriptors",
        "growth.depth",
    ]

    func print() {
        let lines = Self.jobs.compactMap(cells)
        guard !lines.isEmpty else { return }
        var table = TextTable(["", "from", "to"] + System.allCases.map(\.rawValue), words: 1)
        for line in lines { table.add(line) }
        Swift.print("growth: Cost at the largest size / at the smallest; 1.00 does not grow")
        Swift.print(table.text, terminator: "\n\n")
    }

    /// Peers that leave sizes out are compared over those that they have, which is said.
    private func cells(of job: String) -> [String]? {
        let sizes = results.sizes(job, .uvRunLoop)
        guard let first = sizes.first, let last = sizes.last, first != last else { return nil }
        let factors = System.allCases.map { system in
            factor(of: job, system, from: first, to: last)
        }
        return [job, Text.grouped(first), Text.grouped(last)] + factors
    }

    private func factor(of job: String, _ system: System, from first: Int, to last: Int) -> String {
        let sizes = results.sizes(job, system)
        guard let largest = sizes.last, largest != first,
            let small = results.median(job, system, first),
            let large = results.median(job, system, largest)
        else { return "not run" }
        let factor = Figures.ratio(large / small)
        return largest == last ? factor : "\(factor) (to \(Text.grouped(largest)))"
    }
}
