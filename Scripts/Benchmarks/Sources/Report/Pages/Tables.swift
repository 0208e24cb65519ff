import Results

/// The tables of a section: its figures, and how this library's compare.
struct Tables {
    let measurements: Measurements

    /// All figures that a section's charts are made of.
    func tables(for plan: SectionPlan) -> [Table] {
        let jobs = plan.charts.flatMap(\.jobs)
        let growth = plan.charts.compactMap { chart -> (job: String, limit: Growth.Limit)? in
            guard case .growth(let job, let limit) = chart else { return nil }
            return (job, limit)
        }
        guard growth.isEmpty else { return [growthTable(growth)].compactMap(\.self) }
        let hasCounts = plan.charts.contains { if case .systemCalls = $0 { true } else { false } }
        return [
            series(jobs), distributions(jobs), hasCounts ? counts : nil,
        ]
        .compactMap(\.self)
    }

    private func series(_ jobs: [String]) -> Table? {
        let all = jobs.flatMap { measurements.of($0) }
        guard !all.isEmpty else { return nil }
        let systems = all.systems
        let rows = all.inOrder(by: { JobSize(job: $0.job, size: $0.size) }).map { group in
            let ours = group.first { $0.system == .uvRunLoop }
            return Table.Row(
                title: group[0].subject,
                cells: systems.map { system in
                    group.first { $0.system == system }.map { cell($0, ours: ours) } ?? .empty
                }
            )
        }
        return Table(
            caption: "Median, smallest to largest, and what UVRunLoop is beside it",
            headings: ["Job"] + systems.map(\.rawValue),
            rows: rows
        )
    }

    private func cell(_ measurement: Measurement, ours: Measurement?) -> Table.Cell {
        var remarks = [
            Table.Remark(words: Figures.range(measurement.spread, measurement.unit))
        ]
        if let ours, measurement.system != .uvRunLoop,
            let comparison = Comparison(
                ours: ours.median,
                peer: measurement.median,
                Merit(measurement.unit)
            )
        {
            remarks.append(Table.Remark(comparison))
        }
        return Table.Cell(
            figure: Figures.text(measurement.median, measurement.unit),
            remarks: remarks
        )
    }

    private func distributions(_ jobs: [String]) -> Table? {
        let all = jobs.flatMap { job in measurements.distributions.filter { $0.job == job } }
        let percents = Set(all.flatMap(\.percentiles).map(\.percent)).sorted()
        guard !all.isEmpty else { return nil }
        let rows = all.map { distribution in
            Table.Row(
                title: "\(distribution.title), \(distribution.system.rawValue)",
                cells: percents.map { percent in
                    distribution.percentiles.first { $0.percent == percent }.map {
                        Table.Cell(figure: Figures.text($0.value, distribution.unit))
                    } ?? .empty
                } + [Table.Cell(figure: Figures.size(Double(distribution.count)))]
            )
        }
        return Table(
            caption: "Percentiles",
            headings: ["Job"] + percents.map(Figures.percentile) + ["Samples"],
            rows: rows
        )
    }

    private var counts: Table? {
        let all = measurements.counts
        let present = Set(all.map(\.system))
        let systems = System.allCases.filter(present.contains)
        guard !all.isEmpty else { return nil }
        let rows = all.inOrder(by: \.operation).map { group in
            let ours = group.first { $0.system == .uvRunLoop }
            return Table.Row(
                title: group[0].title.asHeading,
                cells: systems.map { system in
                    group.first { $0.system == system }.map { cell($0, ours: ours) } ?? .empty
                }
            )
        }
        return Table(
            caption: "System calls per operation, and what UVRunLoop makes beside it",
            headings: ["Operation"] + systems.map(\.rawValue),
            rows: rows
        )
    }

    private func cell(_ count: Count, ours: Count?) -> Table.Cell {
        var cell = Table.Cell(figure: Figures.count(count.syscalls))
        if let ours, count.system != .uvRunLoop,
            let comparison = Comparison(ours: ours.syscalls, peer: count.syscalls, .fewer)
        {
            cell.remarks = [Table.Remark(comparison)]
        }
        return cell
    }
}

extension Table.Remark {
    init(_ comparison: Comparison) {
        self.init(words: comparison.words, isGood: comparison.isBetter)
    }
}
