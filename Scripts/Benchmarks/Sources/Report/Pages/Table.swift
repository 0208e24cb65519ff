/// Rows of figures.
struct Table {
    /// A figure, with remarks below it.
    struct Cell {
        var figure: String
        var remarks: [Remark] = []

        /// The cell where nothing was measured.
        static let empty = Cell(figure: "–")
    }

    /// A remark, and whether it is good news, if it is news.
    struct Remark {
        let words: String
        var isGood: Bool?
    }

    struct Row {
        let title: String
        let cells: [Cell]
    }

    let caption: String
    /// The first is above the rows' titles.
    let headings: [String]
    let rows: [Row]

    /// The table, within a part of the page that scrolls when the page is too narrow for it.
    var elements: [Element] {
        let head = Element(
            "thead",
            [:],
            [Element("tr", [:], headings.map { Element("th", ["scope": "col"], text: $0) })]
        )
        let table = Element(
            "table",
            [:],
            [head, Element("tbody", [:], rows.map(\.element))]
        )
        // Outside the part that scrolls, so that it can be read as a whole.
        let caption = Element("p", ["class": "caption"], text: caption)
        return [
            caption,
            Element(
                "div",
                ["class": "table", "role": "region", "aria-label": self.caption, "tabindex": "0"],
                [table]
            ),
        ]
    }
}

extension Table.Row {
    fileprivate var element: Element {
        Element(
            "tr",
            [:],
            [Element("th", ["scope": "row"], text: title)] + cells.map(\.element)
        )
    }
}

extension Table.Cell {
    private var styleClass: String { figure == Table.Cell.empty.figure ? "none" : "figure" }

    fileprivate var element: Element {
        Element(
            "td",
            [:],
            (figure.isEmpty ? [] : [Element("span", ["class": styleClass], text: figure)])
                + remarks.map(\.element)
        )
    }
}

extension Table.Remark {
    fileprivate var element: Element {
        Element("small", ["class": isGood.map { $0 ? "good" : "bad" } ?? "plain"], text: words)
    }
}
