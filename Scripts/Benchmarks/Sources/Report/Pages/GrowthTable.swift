import Results

extension Tables {
    /// The verdicts on growing costs, with how the peers' costs grow over the same sizes.
    func growthTable(_ jobs: [(job: String, limit: Growth.Limit)]) -> Table? {
        let rows = jobs.compactMap { job, limit in growthRow(measurements.of(job), limit) }
        guard !rows.isEmpty else { return nil }
        return Table(
            caption: "Growth from the smallest to the largest size",
            headings: [
                "Operation", "At the smallest", "At the largest", "Ratio", "Ratio of log n",
                "Fitted exponent", "Verdict", "Ratio of peers",
            ],
            rows: rows
        )
    }

    private func growthRow(_ measurements: [Measurement], _ limit: Growth.Limit) -> Table.Row? {
        let ours = measurements.filter { $0.system == .uvRunLoop }
        guard let first = ours.first, let growth = Growth(ours, limit) else { return nil }
        return Table.Row(
            title: first.title,
            cells: [
                cell(growth.smallest, first), cell(growth.largest, first),
                Table.Cell(figure: Figures.times(growth.ratio)),
                Table.Cell(figure: Figures.times(growth.logarithmicRatio)),
                Table.Cell(figure: growth.exponent.map(Figures.threeDigits) ?? "–"),
                Table.Cell(
                    figure: "",
                    remarks: [
                        Table.Remark(words: growth.sentence, isGood: growth.isWithinLimit)
                    ]
                ),
                peers(measurements, growth, limit),
            ]
        )
    }

    private func cell(_ sample: Growth.Sample, _ first: Measurement) -> Table.Cell {
        let size = "\(Figures.size(sample.size)) \(first.sizeName ?? "")"
        return Table.Cell(
            figure: Figures.text(sample.cost, first.unit),
            remarks: [Table.Remark(words: size)]
        )
    }

    /// How the costs of peers grow that were measured at the same two sizes.
    private func peers(
        _ measurements: [Measurement],
        _ ours: Growth,
        _ limit: Growth.Limit
    ) -> Table.Cell {
        let remarks = measurements.systems.filter { $0 != .uvRunLoop }.compactMap { system in
            let growth = Growth(measurements.filter { $0.system == system }, limit)
            guard let growth, growth.smallest.size == ours.smallest.size,
                growth.largest.size == ours.largest.size
            else { return nil as Table.Remark? }
            return Table.Remark(words: "\(system.rawValue): \(Figures.times(growth.ratio))")
        }
        return Table.Cell(figure: remarks.isEmpty ? Table.Cell.empty.figure : "", remarks: remarks)
    }
}

extension Growth {
    /// Fails when there are not two sizes.
    init?(_ measurements: [Measurement], _ limit: Limit) {
        let samples = measurements.compactMap { measurement in
            measurement.size.map { Sample(size: Double($0), cost: measurement.median) }
        }
        self.init(samples, limit: limit)
    }
}
