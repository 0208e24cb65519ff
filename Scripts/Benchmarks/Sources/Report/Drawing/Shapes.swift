/// A place on a drawing, in pixels from its top left corner.
struct Point: Equatable {
    var x: Double
    var y: Double
}

/// A part of a drawing.
struct Rectangle {
    var left: Double
    var top: Double
    var right: Double
    var bottom: Double

    var width: Double { right - left }
    var height: Double { bottom - top }

    func overlaps(_ other: Rectangle) -> Bool {
        left < other.right && other.left < right && top < other.bottom && other.top < bottom
    }

    func contains(_ point: Point) -> Bool {
        (left...right).contains(point.x) && (top...bottom).contains(point.y)
    }
}

/// Which end of a text stands at its place.
enum Anchor: String {
    case start, middle, end
}

/// How a line is drawn besides its colour.
enum Stroke: String {
    /// A line of the grid.
    case grid
    /// The line that values begin at.
    case base
    /// Data that peers are compared with.
    case bold
    /// Data of a peer.
    case data
    /// From the smallest to the largest of some values.
    case whisker
    /// From a line to its name.
    case leader
}

/// The shapes that charts are made of. Their colours come from the style sheet.
extension Element {
    static func text(
        _ words: String,
        at place: Point,
        _ style: TextStyle,
        anchor: Anchor = .start
    ) -> Element {
        Element(
            "text",
            [
                "x": Figures.pixels(place.x),
                "y": Figures.pixels(place.y),
                "class": style.rawValue,
                "text-anchor": anchor.rawValue,
            ],
            text: words
        )
    }

    static func line(_ points: [Point], _ stroke: Stroke, dashes: String = "none") -> Element {
        let path = points.enumerated().map { index, point in
            "\(index == 0 ? "M" : "L")\(Figures.pixels(point.x)) \(Figures.pixels(point.y))"
        }
        return Element(
            "path",
            [
                "d": path.joined(separator: " "),
                "class": stroke.rawValue,
                "stroke-dasharray": dashes,
            ]
        )
    }

    static func bar(_ place: Rectangle) -> Element {
        Element(
            "rect",
            [
                "x": Figures.pixels(place.left),
                "y": Figures.pixels(place.top),
                "width": Figures.pixels(place.width),
                "height": Figures.pixels(place.height),
                "rx": "2",
                "class": "filled",
            ]
        )
    }

    /// Elements that share a colour.
    static func group(_ colour: String, _ inner: [Element]) -> Element {
        Element("g", ["class": colour], inner)
    }
}

/// Sizes and weights of text, with the width that a browser's usual fonts need at most.
enum TextStyle: String {
    /// A chart's title.
    case title
    /// The statement of a chart, in a sentence.
    case good
    case bad
    /// The measured quantity, and its unit.
    case note
    /// A name.
    case name
    /// A figure on an axis.
    case tick

    var size: Double {
        switch self {
        case .title: 16
        case .good, .bad: 13.5
        case .name, .note, .tick: 13
        }
    }

    /// About the width of a text, or a little more: which font it gets, only a browser knows.
    func width(of words: String) -> Double {
        Double(words.count) * size * (self == .title ? 0.62 : 0.61)
    }
}
