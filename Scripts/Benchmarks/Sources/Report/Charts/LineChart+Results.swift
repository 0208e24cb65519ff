import Glibc
import Results

extension LineChart {
    /// A line for each system over the sizes of one job; fails when there are not two sizes.
    init?(
        _ measurements: [Measurement],
        _ measure: String,
        _ horizontal: Scale.Kind,
        _ vertical: Scale.Kind
    ) {
        let sized = measurements.filter { $0.size != nil && $0.unit == measurements[0].unit }
        let unit = measurements.first?.unit ?? .nanoseconds
        guard let first = sized.first, sized.sizes.count > 1,
            let x = Axis(sizesOf: sized, horizontal),
            let y = Axis(valuesOf: sized, vertical, title: "\(measure); \(Merit(unit).hint)")
        else { return nil }
        name = ChartMaker.name(first.job)
        title = first.title
        summary = sized.inOrder(by: { $0.size }).map(\.sentence).joined(separator: " ")
        self.x = x
        self.y = y
        lines = sized.systems.reversed().map { system in
            Line(system, sized.filter { $0.system == system }, x, y)
        }
    }

    /// A line for each system over percentiles; fails when there is nothing above the median.
    init?(_ distributions: [Distribution]) {
        let resolved = distributions.map { ($0.system, $0.resolvedPercentiles) }
        let all = resolved.flatMap(\.1)
        guard let first = distributions.first,
            let x = Scale.percentile(upTo: all.map(\.percent)),
            let y = Scale.logarithmic(around: all.map(\.value))
        else { return nil }
        name = ChartMaker.name(first.job)
        title = first.title
        summary = distributions.map(\.sentence).joined(separator: " ")
        self.x = Axis(title: "percentile", scale: x, label: Figures.percent)
        self.y = Axis(
            title: "lateness, log scale; \(Merit.sooner.hint)",
            scale: y,
            label: { Figures.tick($0, first.unit) }
        )
        lines = resolved.reversed().filter { !$0.1.isEmpty }.map { system, percentiles in
            Line(
                label: system.rawValue,
                style: system.style,
                values: percentiles.map { Value(x: $0.percent, y: $0.value, middleHalf: nil) }
            )
        }
    }

    /// This library's line over the sizes of a job, with its verdict and its limit.
    init?(growthOf measurements: [Measurement], _ limit: Growth.Limit) {
        let ours = measurements.filter { $0.system == .uvRunLoop }
        guard let first = ours.first, let growth = Growth(ours, limit) else { return nil }
        let isOfGrowth = first.job.hasPrefix("growth.")
        // Other jobs have a chart with the peers already.
        let shown = isOfGrowth ? measurements.filter { $0.size != nil } : ours
        let points = growth.limitPoints
        guard let x = Axis(sizesOf: shown, .logarithmic),
            let scale = Scale.logarithmic(around: shown.flatMap(\.drawnValues) + points.map(\.y))
        else { return nil }
        name = ChartMaker.name(isOfGrowth ? first.job : "growth.\(first.job)")
        title = first.title
        summary = "\(growth.sentence): \(growth.reason)."
        remarks = [
            (growth.sentence, growth.isWithinLimit ? .good : .bad), (growth.reason, .note),
        ]
        let y = Axis(
            title: "time each, log scale",
            scale: scale,
            label: { Figures.tick($0, first.unit) }
        )
        self.x = x
        self.y = y
        lines = shown.systems.reversed().map { system in
            Line(system, shown.filter { $0.system == system }, x, y)
        }
        reference = Reference(label: limit == .flat ? "flat" : "log n", points: points)
        width = 380
        height = 310
    }
}

extension LineChart.Line {
    /// Makes the line of a system from those of its measurements that the axes can show.
    init(_ system: System, _ measurements: [Measurement], _ x: Axis, _ y: Axis) {
        let shown = measurements.filter { y.scale.kind != .logarithmic || $0.median > 0 }
        self.init(
            label: system.rawValue,
            style: system.style,
            values: shown.compactMap { measurement in
                guard let size = measurement.size.map(Double.init), size >= x.scale.lowest else {
                    return nil
                }
                return LineChart.Value(
                    x: size,
                    y: measurement.median,
                    middleHalf: measurement.middleHalf
                )
            }
        )
    }
}

extension Axis {
    /// The sizes of measurements; one of zero leaves no choice but a linear scale.
    init?(sizesOf measurements: [Measurement], _ wanted: Scale.Kind) {
        let sizes = measurements.sizes.map(Double.init)
        let isLinear = wanted == .linear || sizes.contains { $0 <= 0 }
        guard let scale = Scale.measured(at: sizes, isLinear ? .linear : .logarithmic) else {
            return nil
        }
        let name = measurements.compactMap(\.sizeName).first ?? "size"
        self.init(
            title: isLinear ? name : "\(name), log scale",
            scale: scale,
            label: Figures.size
        )
    }

    /// The values of measurements, of which the title says what they measure.
    init?(valuesOf measurements: [Measurement], _ wanted: Scale.Kind, title: String) {
        guard let unit = measurements.first?.unit else { return nil }
        let values = measurements.flatMap(\.drawnValues)
        let scale =
            wanted == .linear
            ? Scale.linear(upTo: values.max() ?? 0) : Scale.logarithmic(around: values)
        guard let scale else { return nil }
        self.init(
            title: wanted == .linear ? title : "\(title); log scale",
            scale: scale,
            label: { Figures.tick($0, unit) }
        )
    }
}

extension Measurement {
    /// The median, and the ends of its whisker.
    var drawnValues: [Double] {
        [median] + (middleHalf.map { [$0.lowerBound, $0.upperBound] } ?? [])
    }
}

extension [Measurement] {
    /// The medians of one size, in words.
    var sentence: String {
        let medians = map { "\($0.system.rawValue) \(Figures.text($0.median, $0.unit))" }
        guard let first, let size = first.size else { return "" }
        let subject = "\(Figures.size(Double(size))) \(first.sizeName ?? "")"
        return "\(subject): \(medians.joined(separator: ", "))."
    }
}

extension Distribution {
    /// From the median on, as far as there are figures enough to tell, above zero.
    var resolvedPercentiles: [Percentile] {
        let finest = 100 * (1 - 1 / Double(max(1, count)))
        return percentiles.filter {
            $0.percent >= 50 && $0.percent <= finest && $0.value.isFinite && $0.value > 0
        }
        .sorted { $0.percent < $1.percent }
    }

    /// The percentiles in words.
    var sentence: String {
        let values = resolvedPercentiles.map {
            "\(Figures.percent($0.percent)) within \(Figures.text($0.value, unit))"
        }
        return "\(system.rawValue): \(values.joined(separator: ", "))."
    }
}

extension Growth {
    /// The curve that the cost has to stay below, in steps fine enough for a smooth line.
    var limitPoints: [Point] {
        let steps = 24
        return (0...steps).map { step in
            let part = Double(step) / Double(steps)
            let size =
                smallest.size > 0
                ? smallest.size * pow(largest.size / smallest.size, part) : largest.size * part
            let cost = limit == .flat ? smallest.cost : logarithmicCost(at: size)
            return Point(x: size, y: cost)
        }
    }
}
