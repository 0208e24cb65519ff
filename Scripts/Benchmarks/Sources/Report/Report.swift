import FoundationEssentials
import Results

/// Writes the results of the benchmarks for people to read.
public enum Report {
    /// Writes a page, its charts as files of their own, and the results they were made of.
    ///
    /// The page is `report.html` and needs none of the other files. Each chart is an SVG file that
    /// can be read on light and on dark ground, and `results.json` has the results as they were
    /// given. The same results make the same files. What was not measured is left out, and a chart
    /// of which nothing was measured is not written. Files of an earlier report that this one does
    /// not write stay as they are.
    ///
    /// - Parameters:
    ///   - results: What was measured.
    ///   - folder: Where the files go. It is made if need be.
    /// - Throws: What the file system refuses.
    public static func write(_ results: Results, to folder: String) throws {
        let folder = URL(filePath: folder, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The results come first: whatever happens then, what took minutes to measure is safe.
        try encoder.encode(results).write(to: folder.appending(path: "results.json"))
        for file in files(for: results) {
            try Data(file.text.utf8).write(to: folder.appending(path: file.name))
        }
    }

    /// The page and the charts, in the order in which the page has them.
    static func files(for results: Results) -> [(name: String, text: String)] {
        let page = page(for: results)
        let charts = page.sections.flatMap(\.charts).map { chart in
            ("\(chart.name).svg", chart.standalone(source: results.source).source + "\n")
        }
        return [("report.html", page.source)] + charts
    }

    private static func page(for results: Results) -> Page {
        let measurements = Measurements(results)
        let plans = SectionPlan.all(for: measurements)
        let maker = ChartMaker(measurements: measurements)
        let tables = Tables(measurements: measurements)
        let sections = plans.map { plan in
            Page.Section(
                title: plan.title,
                remark: plan.remark,
                charts: plan.charts.compactMap(maker.chart),
                tables: tables.tables(for: plan)
            )
        }
        let summary = Summary(measurements: measurements, jobs: plans.comparedJobs)
        return Page(
            results: results,
            sections: sections.filter { !$0.charts.isEmpty || !$0.tables.isEmpty },
            summary: summary.table
        )
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "infinity",
            negativeInfinity: "-infinity",
            nan: "nan"
        )
        return encoder
    }
}

extension [SectionPlan] {
    /// The jobs of all sections, each once, in the order of the page.
    fileprivate var comparedJobs: [String] {
        flatMap(\.charts).flatMap(\.jobs).inOrder(by: { $0 }).map { $0[0] }
    }
}
