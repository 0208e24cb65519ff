import Results

/// One line for each job: this library's figure, and how it does beside each peer.
struct Summary {
    let measurements: Measurements
    let jobs: [String]

    var table: Table? {
        let rows = series + distributions + counts
        guard !rows.isEmpty else { return nil }
        return Table(
            caption: "What UVRunLoop is beside its peers, each at the largest size of both",
            headings: ["Job"] + System.allCases.map(\.rawValue),
            rows: rows
        )
    }

    private var series: [Table.Row] {
        jobs.compactMap { job in
            let all = measurements.of(job)
            let ours = all.filter { $0.system == .uvRunLoop }
            guard let largest = ours.last, all.count > ours.count else { return nil }
            return row(
                largest.subject,
                Figures.text(largest.median, largest.unit)
            ) { system in
                self.comparison(all.filter { $0.system == system }, ours)
            }
        }
    }

    /// A peer at the largest size that both were measured at.
    private func comparison(_ peers: [Measurement], _ ours: [Measurement]) -> [Table.Remark] {
        let pairs = peers.compactMap { peer in
            ours.first { $0.size == peer.size }.map { (ours: $0, peer: peer) }
        }
        guard let pair = pairs.last,
            let comparison = Comparison(
                ours: pair.ours.median,
                peer: pair.peer.median,
                Merit(pair.ours.unit)
            )
        else { return [] }
        let remark = Table.Remark(comparison)
        guard let size = pair.ours.size, size != ours.last?.size else { return [remark] }
        return [remark, Table.Remark(words: "at \(Figures.size(Double(size)))")]
    }

    private var distributions: [Table.Row] {
        measurements.distributions.inOrder(by: \.job).flatMap { group in
            [50.0, 99].compactMap { percent in
                let values = group.map { ($0.system, $0.value(at: percent)) }
                let byName = Dictionary(values, uniquingKeysWith: { first, _ in first })
                guard let ours = byName[.uvRunLoop] ?? nil, byName.count > 1 else { return nil }
                return row(
                    "\(group[0].title), \(Figures.percentile(percent))",
                    Figures.text(ours, group[0].unit)
                ) { system in
                    let peer = byName[system] ?? nil
                    let comparison = peer.flatMap { Comparison(ours: ours, peer: $0, .sooner) }
                    return [comparison.map(Table.Remark.init)].compactMap(\.self)
                }
            }
        }
    }

    private var counts: [Table.Row] {
        measurements.counts.inOrder(by: \.operation).compactMap { group in
            guard let ours = group.first(where: { $0.system == .uvRunLoop }), group.count > 1
            else { return nil }
            return row("System calls: \(group[0].title)", Figures.count(ours.syscalls)) { system in
                guard let peer = group.first(where: { $0.system == system }),
                    let comparison = Comparison(ours: ours.syscalls, peer: peer.syscalls, .fewer)
                else { return [] }
                return [Table.Remark(comparison)]
            }
        }
    }

    private func row(
        _ title: String,
        _ ours: String,
        peer: (System) -> [Table.Remark]
    ) -> Table.Row {
        let peers = System.allCases.filter { $0 != .uvRunLoop }.map { system in
            let remarks = peer(system)
            return Table.Cell(
                figure: remarks.isEmpty ? Table.Cell.empty.figure : "",
                remarks: remarks
            )
        }
        return Table.Row(title: title, cells: [Table.Cell(figure: ours)] + peers)
    }
}

extension Distribution {
    /// The value at a percentage, where it is among the percentiles.
    fileprivate func value(at percent: Double) -> Double? {
        percentiles.first { $0.percent == percent }?.value
    }
}
