/// A picture of some results.
protocol Chart {
    /// The name of its file, without an extension.
    var name: String { get }
    var title: String { get }
    /// The figures in sentences, for those who do not see the picture.
    var summary: String { get }
    var width: Double { get }
    /// With a title of one line.
    var height: Double { get }
    /// Everything but the title.
    var shapes: [Element] { get }
}

extension Chart {
    /// The picture for a file of its own, which says below where its figures come from.
    func standalone(source: String) -> Element {
        let styles = Element("style", [:], .styleSheet(StyleSheet.standalone))
        let lines = TextStyle.tick.lines(of: source, width: width - 16)
        let footer = lines.enumerated().map { index, line in
            let place = Point(x: left, y: height + 16 + 17 * Double(index))
            return Element.text(line, at: place, .tick)
        }
        return picture(height: height + 17 * Double(lines.count) + 8, [styles], footer)
    }

    /// The picture for a page that has ``StyleSheet/embedded`` in its head.
    var embedded: Element { picture(height: height, [], []) }

    /// Where texts begin.
    var left: Double { 4 }

    private func picture(height: Double, _ styles: [Element], _ footer: [Element]) -> Element {
        let titleLines = TextStyle.title.lines(of: title, width: width - 16)
        let further = 21 * Double(max(0, titleLines.count - 1))
        let visible = titleLines.enumerated().map { index, line in
            Element.text(line, at: Point(x: left, y: 22 + 21 * Double(index)), .title)
        }
        let below = Element(
            "g",
            ["transform": "translate(0 \(Figures.pixels(further)))"],
            shapes + footer
        )
        return Element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": "0 0 \(Figures.pixels(width)) \(Figures.pixels(height + further))",
                "width": Figures.pixels(width),
                "height": Figures.pixels(height + further),
                "role": "img",
                "aria-labelledby": "\(name)-title \(name)-desc",
            ],
            heading + styles + visible + [below]
        )
    }

    private var heading: [Element] {
        [
            Element("title", ["id": "\(name)-title"], text: title),
            Element("desc", ["id": "\(name)-desc"], text: summary),
        ]
    }
}
