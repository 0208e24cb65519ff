/// Lines over two axes, each with its name at its end.
struct LineChart: Chart {
    /// A value, and the range that half of its samples lie in.
    struct Value {
        let x: Double
        let y: Double
        let middleHalf: ClosedRange<Double>?
    }

    /// The values of one system, from left to right.
    struct Line {
        let label: String
        let style: Style
        let values: [Value]
    }

    /// A thin line without values of its own, to compare with.
    struct Reference {
        let label: String
        let points: [Point]
    }

    let name: String
    let title: String
    let summary: String
    /// Sentences below the title.
    var remarks: [(words: String, style: TextStyle)] = []
    let x: Axis
    let y: Axis
    /// The last is drawn on top.
    let lines: [Line]
    var reference: Reference?
    var width = 440.0
    var height = 330.0

    var shapes: [Element] {
        let plot = Plot(area: area, x: x.scale, y: y.scale)
        let drawn = lines.map { DrawnLine(line: $0, plot: plot) }
        let base = [
            Point(x: area.left, y: area.bottom), Point(x: area.right, y: area.bottom),
        ]
        return remarkTexts
            + [.text(y.title, at: Point(x: left, y: area.top - 17), .note)]
            + y.drawnLeft(of: area) + x.linesUp(area) + x.labelsBelow(area)
            + [.line(base, .base)]
            + referenceShapes(plot)
            + drawn.map(\.element)
            + LineNames(lines: drawn, reference: referenceEnd(plot), area: area, width: width)
            .shapes
    }

    private var area: Rectangle {
        Rectangle(
            left: left + y.labelWidth,
            top: 64 + 18 * Double(remarks.count),
            right: width - nameWidth,
            bottom: height - 46
        )
    }

    /// The room right of the plot: for the names of lines that go on to its end.
    private var nameWidth: Double {
        let names = lines.filter { $0.values.last?.x == x.scale.highest }.map(\.label)
        let all = names + [reference?.label].compactMap(\.self)
        return (all.map { TextStyle.name.width(of: $0) + LineNames.indent }.max() ?? 6) + 8
    }

    private var remarkTexts: [Element] {
        remarks.enumerated().map { index, remark in
            .text(remark.words, at: Point(x: left, y: 42 + 18 * Double(index)), remark.style)
        }
    }

    private func referenceShapes(_ plot: Plot) -> [Element] {
        guard let reference else { return [] }
        let points = reference.points.map { plot.place(x: $0.x, y: $0.y) }
        return [.group("reference", [.line(points, .whisker, dashes: "1 4")])]
    }

    private func referenceEnd(_ plot: Plot) -> LineNames.End? {
        guard let reference, let last = reference.points.last else { return nil }
        return LineNames.End(
            label: reference.label,
            colour: "reference",
            marker: nil,
            place: plot.place(x: last.x, y: last.y)
        )
    }
}

/// A line with its places on the drawing.
struct DrawnLine {
    let line: LineChart.Line
    let points: [Point]
    private let whiskers: [[Point]]

    init(line: LineChart.Line, plot: Plot) {
        self.line = line
        points = line.values.map { plot.place(x: $0.x, y: $0.y) }
        whiskers = line.values.compactMap { value in
            guard let half = value.middleHalf else { return nil }
            return [
                plot.place(x: value.x, y: half.lowerBound),
                plot.place(x: value.x, y: half.upperBound),
            ]
        }
    }

    var element: Element {
        let style = line.style
        return .group(
            style.colour,
            [.line(points, style.stroke, dashes: style.dashes)]
                + whiskers.map { .line($0, .whisker) }
                + points.map { style.marker.element(at: $0) }
        )
    }
}
