/// Horizontal bars in groups, each with its name before it and its value behind it.
struct BarChart: Chart {
    struct Bar {
        let label: String
        let colour: String
        let value: Double
        /// The range that half of the samples lie in.
        let middleHalf: ClosedRange<Double>?
        /// The value in words.
        let text: String
    }

    struct Group {
        let title: String
        let bars: [Bar]
    }

    let name: String
    let title: String
    let summary: String
    /// The values, along the bars.
    let axis: Axis
    let groups: [Group]
    var width = 440.0

    private static let rowHeight = 21.0
    private static let barHeight = 13.0
    /// From one group's last bar to the next one's title.
    private static let groupGap = 12.0
    private static let top = 36.0

    var height: Double { area.bottom + 46 }

    var shapes: [Element] {
        let area = area
        var elements = axis.labelsBelow(area)
        var top = Self.top
        for group in groups {
            if hasGroupTitles {
                elements.append(.text(group.title, at: Point(x: left, y: top + 14), .note))
                top += Self.rowHeight
            }
            let bottom = top + Self.rowHeight * Double(group.bars.count)
            // Lines behind the bars only: they would cross out the titles.
            var behind = area
            behind.top = top
            behind.bottom = bottom
            elements += axis.linesUp(behind)
            for bar in group.bars {
                elements += shapes(of: bar, top: top, in: area)
                top += Self.rowHeight
            }
            let base = [Point(x: area.left, y: behind.top), Point(x: area.left, y: bottom)]
            elements.append(.line(base, .base))
            top += Self.groupGap
        }
        return elements
    }

    /// A single group says nothing that the chart's own title does not.
    private var hasGroupTitles: Bool { groups.count > 1 }

    private var area: Rectangle {
        let bars = groups.flatMap(\.bars)
        let labels = bars.map { TextStyle.name.width(of: $0.label) }.max() ?? 0
        let values = bars.map { TextStyle.name.width(of: $0.text) }.max() ?? 0
        let rows = bars.count + (hasGroupTitles ? groups.count : 0)
        let gaps = Self.groupGap * Double(max(0, groups.count - 1))
        return Rectangle(
            left: left + labels + 10,
            top: Self.top,
            right: width - values - 14,
            bottom: Self.top + Double(rows) * Self.rowHeight + gaps + 4
        )
    }

    private func shapes(of bar: Bar, top: Double, in area: Rectangle) -> [Element] {
        let middle = top + Self.rowHeight / 2
        let end = right(of: bar.value, in: area)
        var marks: [Element] = [
            .bar(
                Rectangle(
                    left: area.left,
                    top: middle - Self.barHeight / 2,
                    right: max(end, area.left + 1),
                    bottom: middle + Self.barHeight / 2
                )
            )
        ]
        var reach = end
        if let half = bar.middleHalf {
            reach = max(end, right(of: half.upperBound, in: area))
            let range = [
                Point(x: right(of: half.lowerBound, in: area), y: middle),
                Point(x: reach, y: middle),
            ]
            marks.append(.group("reference", [.line(range, .whisker)]))
        }
        return [
            .text(bar.label, at: Point(x: area.left - 8, y: middle + 4.5), .name, anchor: .end),
            .group(bar.colour, marks),
            .text(bar.text, at: Point(x: reach + 7, y: middle + 4.5), .name),
        ]
    }

    /// Values beyond the scale end at its edge: a whisker may reach out of it.
    private func right(of value: Double, in area: Rectangle) -> Double {
        area.left + min(1, max(0, axis.scale.fraction(of: value))) * area.width
    }
}
