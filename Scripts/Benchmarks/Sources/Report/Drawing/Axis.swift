/// A scale with a name, whose ticks have labels.
struct Axis {
    /// The measured quantity along it, and its unit.
    let title: String
    let scale: Scale
    /// Writes a tick.
    let label: (Double) -> String
}

/// Where the two axes of a chart have their values.
struct Plot {
    let area: Rectangle
    let x: Scale
    let y: Scale

    func place(x valueX: Double, y valueY: Double) -> Point {
        Point(x: left(of: valueX), y: top(of: valueY))
    }

    func left(of value: Double) -> Double {
        area.left + x.fraction(of: value) * area.width
    }

    /// Values above the scale are drawn at its edge: a whisker may reach out of it.
    func top(of value: Double) -> Double {
        area.bottom - min(1, max(0, y.fraction(of: value))) * area.height
    }
}

extension Axis {
    /// The room that the labels of a vertical axis need at its left.
    var labelWidth: Double {
        (scale.ticks.map { TextStyle.tick.width(of: label($0)) }.max() ?? 0) + 10
    }

    /// The lines of a horizontal axis's values.
    func linesUp(_ area: Rectangle) -> [Element] {
        labelledTicks(length: area.width).map { tick in
            let x = area.left + scale.fraction(of: tick) * area.width
            return .line([Point(x: x, y: area.top), Point(x: x, y: area.bottom)], .grid)
        }
    }

    /// The labels of a horizontal axis, and its title.
    func labelsBelow(_ area: Rectangle) -> [Element] {
        let labels = labelledTicks(length: area.width).map { tick in
            let x = area.left + scale.fraction(of: tick) * area.width
            return Element.text(
                label(tick),
                at: Point(x: x, y: area.bottom + 20),
                .tick,
                anchor: .middle
            )
        }
        let middle = Point(x: (area.left + area.right) / 2, y: area.bottom + 40)
        return labels + [.text(title, at: middle, .note, anchor: .middle)]
    }

    /// The lines of a vertical axis's values, and their labels at the left.
    func drawnLeft(of area: Rectangle) -> [Element] {
        scale.ticks.flatMap { tick in
            let y = area.bottom - scale.fraction(of: tick) * area.height
            let label = Element.text(
                label(tick),
                at: Point(x: area.left - 9, y: y + 4.5),
                .tick,
                anchor: .end
            )
            return [
                .line([Point(x: area.left, y: y), Point(x: area.right, y: y)], .grid), label,
            ]
        }
    }

    /// The ticks whose labels have room side by side: the last, and from the first all that fit.
    private func labelledTicks(length: Double) -> [Double] {
        guard let last = scale.ticks.last else { return [] }
        let lastRange = labelRange(last, length)
        var reached = -Double.infinity
        var kept = scale.ticks.dropLast().filter { tick in
            let range = labelRange(tick, length)
            guard range.lowerBound > reached, range.upperBound < lastRange.lowerBound else {
                return false
            }
            reached = range.upperBound
            return true
        }
        kept.append(last)
        return kept
    }

    private func labelRange(_ tick: Double, _ length: Double) -> ClosedRange<Double> {
        let middle = scale.fraction(of: tick) * length
        let half = TextStyle.tick.width(of: label(tick)) / 2 + 3
        return middle - half...middle + half
    }
}
