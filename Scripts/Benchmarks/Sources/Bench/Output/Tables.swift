import BenchSupport
import Results

/// The tables that are printed, one for each job.
struct Tables {
    let results: Results

    func printAll() {
        for job in names(of: results.series.map(\.job)) {
            print(table(of: job), terminator: "\n\n")
        }
        for job in names(of: results.distributions.map(\.job)) {
            print(distributionTable(of: job), terminator: "\n\n")
        }
        if !results.counts.isEmpty { print(countTable, terminator: "\n\n") }
    }

    /// Each name once, in the order of the first.
    private func names(of all: [String]) -> [String] {
        var names: [String] = []
        for name in all where !names.contains(name) { names.append(name) }
        return names
    }

    // MARK: Samples

    private func table(of job: String) -> String {
        let series = results.series.filter { $0.job == job }
        guard let first = series.first else { return "" }
        var table = TextTable(
            [first.sizeName ?? "", "", "median", "lowest", "highest", "UVRunLoop / this"],
            words: 2
        )
        let systems = System.allCases.filter { system in series.contains { $0.system == system } }
        var sizes: [Int?] = []
        for one in series where !sizes.contains(one.size) { sizes.append(one.size) }
        for size in sizes {
            for (index, system) in systems.enumerated() {
                let name = index == 0 ? size.map(Text.grouped) ?? "" : ""
                let one = series.first { $0.system == system && $0.size == size }
                table.add([name, system.rawValue] + cells(of: one))
            }
        }
        let aim = first.unit == .perSecond ? " (more is better)" : ""
        return "\(job): \(first.title)\(aim)\n\(table.text)"
    }

    private func cells(of series: Series?) -> [String] {
        guard let series else { return ["not run"] }
        let (median, unit) = (series.samples.median, series.unit)
        let ours = results.median(series.job, .uvRunLoop, series.size)
        let ratio = series.system == .uvRunLoop ? nil : ours.map { Figures.ratio($0 / median) }
        return [
            Figures.value(median, unit),
            Figures.value(series.samples.min() ?? median, unit),
            Figures.value(series.samples.max() ?? median, unit),
            ratio ?? "",
        ]
    }

    // MARK: Distributions

    private func distributionTable(of job: String) -> String {
        let all = results.distributions.filter { $0.job == job }
        let percents: [Double] = [50, 90, 99, 99.9, 100]
        let names = percents.map { $0 == 100 ? "most" : "p\(Figures.plain($0))" }
        var table = TextTable(
            [""] + names + ["UVRunLoop / this: p50", "p99"],
            words: 1
        )
        for one in all {
            let values = percents.map {
                one.value(at: $0).map { Figures.value($0, one.unit) } ?? ""
            }
            let ratios = [50, 99].map { percent in ratio(at: percent, of: one) }
            table.add([one.system.rawValue] + values + ratios)
        }
        let title = all.first.map { "\($0.title), \(Text.grouped($0.count)) timers" } ?? ""
        return "\(job): \(title)\n\(table.text)"
    }

    private func ratio(at percent: Double, of one: Distribution) -> String {
        guard one.system != .uvRunLoop,
            let ours = results.percentile(percent, one.job, .uvRunLoop),
            let theirs = one.value(at: percent), theirs > 0
        else { return "" }
        return Figures.ratio(ours / theirs)
    }

    // MARK: Counts

    private var countTable: String {
        var table = TextTable([""] + System.allCases.map(\.rawValue), words: 1)
        for operation in names(of: results.counts.map(\.operation)) {
            let all = results.counts.filter { $0.operation == operation }
            let cells = System.allCases.map { system in
                let count = all.first { $0.system == system }?.syscalls
                return count.map(Figures.threeDigits) ?? "not run"
            }
            table.add([all.first?.title ?? operation] + cells)
        }
        return "counts: System calls per operation, all threads together\n\(table.text)"
    }
}
