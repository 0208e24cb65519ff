/// The shape at the points of a line, which tells lines apart without their colours.
enum Marker {
    case circle, square, triangle, diamond, cross

    /// The shape, around its middle.
    func element(at middle: Point) -> Element {
        switch self {
        case .circle:
            Element(
                "circle",
                [
                    "cx": Figures.pixels(middle.x), "cy": Figures.pixels(middle.y), "r": "4.2",
                    "class": "filled",
                ]
            )
        case .square:
            polygon(middle, [(-3.7, -3.7), (3.7, -3.7), (3.7, 3.7), (-3.7, 3.7)])
        case .triangle:
            polygon(middle, [(0, -5), (4.8, 3.6), (-4.8, 3.6)])
        case .diamond:
            polygon(middle, [(0, -5.4), (5.4, 0), (0, 5.4), (-5.4, 0)])
        case .cross:
            strokes(middle, [(-3.8, -3.8), (3.8, 3.8)], [(-3.8, 3.8), (3.8, -3.8)])
        }
    }

    private func polygon(_ middle: Point, _ corners: [(Double, Double)]) -> Element {
        let points = corners.map {
            "\(Figures.pixels(middle.x + $0)),\(Figures.pixels(middle.y + $1))"
        }
        return Element("polygon", ["points": points.joined(separator: " "), "class": "filled"])
    }

    private func strokes(_ middle: Point, _ strokes: [(Double, Double)]...) -> Element {
        let path = strokes.map { stroke in
            stroke.enumerated().map { index, end in
                let x = Figures.pixels(middle.x + end.0)
                let y = Figures.pixels(middle.y + end.1)
                return "\(index == 0 ? "M" : "L")\(x) \(y)"
            }
            .joined(separator: " ")
        }
        return Element("path", ["d": path.joined(separator: " "), "class": "data"])
    }
}
