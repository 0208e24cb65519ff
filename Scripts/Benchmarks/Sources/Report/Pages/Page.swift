import Results

/// The report as one page that needs nothing beside it.
struct Page {
    let results: Results
    let sections: [Section]
    let summary: Table?

    /// A heading with its charts and tables.
    struct Section {
        let title: String
        let remark: String
        let charts: [any Chart]
        let tables: [Table]
    }

    var source: String {
        let meta = [
            Element("meta", ["charset": "utf-8"]),
            Element(
                "meta",
                ["name": "viewport", "content": "width=device-width, initial-scale=1"]
            ),
            Element("meta", ["name": "color-scheme", "content": "light dark"]),
            Element("title", [:], text: "UVRunLoop: performance, \(results.machine.day)"),
            Element("style", [:], .styleSheet(PageStyle.rules)),
        ]
        let page = Element(
            "html",
            ["lang": "en"],
            [
                Element("head", [:], meta),
                Element("body", [:], [Element("main", [:], header + glance + bodies)]),
            ]
        )
        return "<!DOCTYPE html>\n\(page.source)\n"
    }

    private var header: [Element] {
        let facts = results.facts.map { fact in
            Element(
                "div",
                [:],
                [Element("dt", [:], text: fact.name), Element("dd", [:], text: fact.value)]
            )
        }
        let quick = Element("p", ["class": "notice"], text: Page.quickRun)
        return [
            Element("h1", [:], text: "UVRunLoop: performance"),
            Element("p", [:], text: Page.howToRead),
        ] + (results.isQuick ? [quick] : []) + [Element("dl", ["class": "facts"], facts)]
    }

    private static let howToRead = """
        The same jobs done by UVRunLoop and its peers, which take turns round by round. Figures \
        are medians of the rounds; thin lines at points and bars span the middle half of them. \
        Times carry over to another machine as ratios at best, system calls exactly.
        """

    private static let quickRun = """
        This was a quick run, of fewer rounds and sizes: its figures are rough.
        """

    private var glance: [Element] {
        guard let summary else { return [] }
        return [
            Element(
                "section",
                [:],
                [Element("h2", [:], text: "At a glance")] + summary.elements
            )
        ]
    }

    private var bodies: [Element] { sections.map(\.element) }
}

extension Page.Section {
    /// Whether three of the charts have room side by side.
    private var areSmall: Bool { charts.allSatisfy { $0.width < 400 } }

    fileprivate var element: Element {
        let figures = charts.map { Element("figure", [:], [$0.embedded]) }
        let details = Element(
            "details",
            [:],
            [Element("summary", [:], text: "Figures in tables")] + tables.flatMap(\.elements)
        )
        let remarks = remark.isEmpty ? [] : [Element("p", [:], text: remark)]
        return Element(
            "section",
            [:],
            [Element("h2", [:], text: title)] + remarks
                + [Element("div", ["class": areSmall ? "charts small" : "charts"], figures)]
                + (tables.isEmpty ? [] : [details])
        )
    }
}

extension Results {
    /// The facts that the figures depend on.
    var facts: [(name: String, value: String)] {
        [
            ("Machine", machine.name), ("Processor", "\(machine.processor), \(machine.coreCount)"),
            ("Memory", machine.memory), ("Distribution", machine.distribution),
            ("Kernel", machine.kernel), ("Swift", machine.swift), ("libuv", machine.libuv),
            ("SwiftNIO", machine.nio), ("Measured", machine.dayAndTime), ("Rounds", "\(rounds)"),
        ]
        .filter { !$0.1.isEmpty }
    }

    /// Where the figures of a picture on its own come from.
    var source: String {
        let medians = rounds == 1 ? "1 round" : "medians of \(rounds) rounds"
        let quick = isQuick ? ", quick run" : ""
        return "\(machine.processor), \(machine.coreCount), \(machine.day); \(medians)\(quick)"
    }
}

extension Machine {
    /// The day without the time.
    var day: String { String(date.prefix(10)) }

    /// The number of cores, with a space where no line may end.
    fileprivate var coreCount: String { cores == 1 ? "1\u{A0}core" : "\(cores)\u{A0}cores" }

    /// ISO 8601 with a space, so that a line may end there.
    fileprivate var dayAndTime: String {
        date.map { $0 == "T" ? " " : String($0) }.joined()
    }
}
