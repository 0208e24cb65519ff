/// The names of lines, at their ends, out of each other's way.
///
/// Names of lines that reach the right edge of the plot stand in a column beside it. A line that
/// ends before has its name within the plot, where it covers no line.
struct LineNames {
    /// The end of a line, which is to have a name.
    struct End {
        let label: String
        let colour: String
        let marker: Marker?
        let place: Point
    }

    /// From the end of a line to the first letter of its name.
    static let indent = 30.0
    private static let lineHeight = 17.0

    private let beside: [End]
    private let within: [End]
    private let lines: [DrawnLine]
    private let area: Rectangle
    private let width: Double

    init(lines: [DrawnLine], reference: End?, area: Rectangle, width: Double) {
        let ends = lines.compactMap { drawn in
            drawn.points.last.map {
                End(
                    label: drawn.line.label,
                    colour: drawn.line.style.colour,
                    marker: drawn.line.style.marker,
                    place: $0
                )
            }
        }
        beside = (ends + [reference].compactMap(\.self)).filter { $0.place.x > area.right - 1 }
        within = ends.filter { $0.place.x <= area.right - 1 }
        self.lines = lines
        self.area = area
        self.width = width
    }

    var shapes: [Element] { namesBeside + namesWithin }

    private var namesBeside: [Element] {
        // Of two lines that end at one place, the later is the one on top.
        let sorted = beside.enumerated()
            .sorted { ($0.element.place.y, $0.offset) < ($1.element.place.y, $1.offset) }
            .map(\.element)
        let heights = Spacing.spread(
            sorted.map(\.place.y),
            apart: Self.lineHeight,
            within: area.top...area.bottom
        )
        return zip(sorted, heights).map { end, height in
            let markerPlace = Point(x: end.place.x + 20, y: height)
            let leader = [
                Point(x: end.place.x + 6, y: end.place.y), Point(x: markerPlace.x - 7, y: height),
            ]
            return .group(
                end.colour,
                [.line(leader, .leader)]
                    + [end.marker?.element(at: markerPlace)].compactMap(\.self)
                    + [name(end, at: Point(x: end.place.x + Self.indent, y: height))]
            )
        }
    }

    private var namesWithin: [Element] {
        var taken: [Rectangle] = []
        return within.map { end in
            let place = freePlace(for: end, besides: taken)
            taken.append(place)
            let middle = (place.top + place.bottom) / 2
            return .group(end.colour, [name(end, at: Point(x: place.left + 2, y: middle))])
        }
    }

    private func name(_ end: End, at place: Point) -> Element {
        .text(
            end.label,
            at: Point(x: place.x, y: place.y + 4.5),
            end.marker == nil ? .note : .name
        )
    }

    /// The first place around the end of a line that has room for its name.
    private func freePlace(for end: End, besides taken: [Rectangle]) -> Rectangle {
        let places = candidates(for: end)
        return places.first { place in
            place.right <= width && place.top >= area.top - 8
                && !taken.contains { $0.overlaps(place) }
                && !lines.contains { $0.crosses(place) }
        } ?? places[0]
    }

    private func candidates(for end: End) -> [Rectangle] {
        let textWidth = TextStyle.name.width(of: end.label) + 4
        let offsets = [
            (8.0, -Self.lineHeight / 2), (-textWidth / 2, -Self.lineHeight - 7),
            (-textWidth / 2, 7), (4, -Self.lineHeight - 4), (4, 4),
            (-textWidth - 4, -Self.lineHeight - 4), (-textWidth - 4, 4),
        ]
        return offsets.map { offset in
            let left = end.place.x + offset.0
            let top = end.place.y + offset.1
            return Rectangle(
                left: left,
                top: top,
                right: left + textWidth,
                bottom: top + Self.lineHeight
            )
        }
    }
}

extension DrawnLine {
    /// Whether the line goes through a place.
    ///
    /// Checks the line every few pixels, which is enough to see it in a text.
    fileprivate func crosses(_ place: Rectangle) -> Bool {
        zip(points, points.dropFirst()).contains { from, to in
            let steps = max(1, Int(max(abs(to.x - from.x), abs(to.y - from.y)) / 3))
            return (0...steps).contains { step in
                let part = Double(step) / Double(steps)
                return place.contains(
                    Point(x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part)
                )
            }
        }
    }
}
