import Results

/// Makes charts of what was measured.
struct ChartMaker {
    let measurements: Measurements

    /// The chart, unless nothing of what it shows was measured.
    func chart(for plan: ChartPlan) -> (any Chart)? {
        switch plan {
        case .lines(let job, let measure, let x, let y): lines(job, measure, x, y)
        case .bars(let name, let title, let jobs, let measure): bars(name, title, jobs, measure)
        case .percentiles(let job): percentiles(job)
        case .systemCalls: systemCalls
        case .growth(let job, let limit): growth(job, limit)
        }
    }

    /// A file name for the chart of a job.
    static func name(_ job: String) -> String {
        String(job.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    }

    private func lines(
        _ job: String,
        _ measure: String,
        _ horizontal: Scale.Kind,
        _ vertical: Scale.Kind
    ) -> (any Chart)? {
        let all = measurements.of(job)
        guard let first = all.first else { return nil }
        guard let chart = LineChart(all, measure, horizontal, vertical) else {
            return bars(Self.name(job), first.title, [job], measure)
        }
        return chart
    }

    private func bars(
        _ name: String,
        _ title: String,
        _ jobs: [String],
        _ measure: String
    ) -> (any Chart)? {
        let all = jobs.flatMap { measurements.of($0) }
        guard let first = all.first else { return nil }
        // One axis has one unit; another is not expected, and would be in the tables.
        let alike = all.filter { $0.unit == first.unit }
        guard let scale = Scale.linear(upTo: alike.map(\.median).max() ?? 0) else { return nil }
        let groups = alike.inOrder(by: { JobSize(job: $0.job, size: $0.size) }).map { group in
            BarChart.Group(title: group[0].subject, bars: group.map(BarChart.Bar.init))
        }
        return BarChart(
            name: name,
            title: groups.count == 1 ? groups[0].title : title,
            summary: groups.map(\.sentence).joined(separator: " "),
            axis: Axis(
                title: "\(measure); \(Merit(first.unit).hint)",
                scale: scale,
                label: { Figures.tick($0, first.unit) }
            ),
            groups: groups
        )
    }

    private var systemCalls: (any Chart)? {
        let counts = measurements.counts
        guard let scale = Scale.linear(upTo: counts.map(\.syscalls).max() ?? 0) else { return nil }
        let groups = counts.inOrder(by: \.operation).map { group in
            BarChart.Group(title: group[0].title.asHeading, bars: group.map(BarChart.Bar.init))
        }
        return BarChart(
            name: "syscalls",
            title: "System calls per operation",
            summary: groups.map(\.sentence).joined(separator: " "),
            axis: Axis(
                title: "system calls; \(Merit.fewer.hint)",
                scale: scale,
                label: Figures.count
            ),
            groups: groups
        )
    }

    private func percentiles(_ job: String) -> (any Chart)? {
        LineChart(measurements.distributions.filter { $0.job == job })
    }

    private func growth(_ job: String, _ limit: Growth.Limit) -> (any Chart)? {
        LineChart(growthOf: measurements.of(job), limit)
    }
}

extension Measurement {
    /// The job with its size: "Fire a due timer, 1 k timers".
    var subject: String {
        guard let size else { return title }
        return "\(title), \(Figures.size(Double(size))) \(sizeName ?? "")"
    }
}

extension String {
    /// The text with a capital letter at its beginning.
    var asHeading: String { prefix(1).uppercased() + dropFirst() }
}

extension BarChart.Bar {
    init(_ measurement: Measurement) {
        self.init(
            label: measurement.system.rawValue,
            colour: measurement.system.style.colour,
            value: measurement.median,
            middleHalf: measurement.middleHalf,
            text: Figures.text(measurement.median, measurement.unit)
        )
    }

    init(_ count: Count) {
        self.init(
            label: count.system.rawValue,
            colour: count.system.style.colour,
            value: count.syscalls,
            middleHalf: nil,
            text: Figures.count(count.syscalls)
        )
    }
}

extension BarChart.Group {
    /// The values of the group, in words.
    var sentence: String {
        "\(title): \(bars.map { "\($0.label) \($0.text)" }.joined(separator: ", "))."
    }
}

extension Sequence {
    /// The elements in groups of one key each, in the order in which the keys come first.
    func inOrder<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var places: [Key: Int] = [:]
        return reduce(into: []) { groups, element in
            if let place = places[key(element)] {
                groups[place].append(element)
            } else {
                places[key(element)] = groups.count
                groups.append([element])
            }
        }
    }
}
