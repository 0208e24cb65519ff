import Results
import Testing

@testable import Report

@Suite struct ReportTests {
    @Test func withoutResultsThereIsAPageAndNoChart() {
        #expect(Report.files(for: results()).map(\.name) == ["report.html"])
    }

    @Test func onlyWhatWasMeasuredIsDrawn() throws {
        let measured = results(series: [
            fire(.uvRunLoop, 1_000, 80), fire(.uvRunLoop, 10_000, 90), fire(.libuv, 1_000, 200),
        ])
        let files = Report.files(for: measured)
        let names = ["report.html", "timers-fire.svg", "growth-timers-fire.svg"]
        #expect(files.map(\.name) == names)
        #expect(files[1].text.contains("libuv (C)"))
        #expect(!files[1].text.contains("SwiftNIO"))
        #expect(files[1].text.contains("<desc id="))
    }

    @Test func aJobOfOneSizeIsDrawnAsBars() throws {
        let files = Report.files(for: results(series: [fire(.libuv, 1_000, 80)]))
        let chart = try #require(files.first { $0.name == "timers-fire.svg" })
        #expect(chart.text.contains("<rect"))
    }

    @Test func aSeriesWithoutUsableSamplesIsLeftOut() {
        let empty = fire(.uvRunLoop, 1_000, .nan)
        #expect(Report.files(for: results(series: [empty])).map(\.name) == ["report.html"])
    }

    @Test func aJobThatNoSectionKnowsIsShownToo() {
        var unknown = fire(.uvRunLoop, 1_000, 80)
        unknown.job = "some/thing <new>"
        let files = Report.files(for: results(series: [unknown]))
        #expect(files.map(\.name) == ["report.html", "some-thing--new-.svg"])
        #expect(files[0].text.contains("Other jobs"))
    }

    @Test func percentilesBeyondTheNumberOfSamplesAreNotDrawn() throws {
        let percentiles = [50, 90, 99, 99.9, 100].map { Percentile(percent: $0, value: 1_000) }
        var measured = results()
        measured.distributions = [
            Distribution(
                job: "lateness.idle",
                title: "Lateness",
                system: .uvRunLoop,
                unit: .nanoseconds,
                count: 400,
                percentiles: percentiles
            )
        ]
        let files = Report.files(for: measured)
        let chart = try #require(files.first { $0.name == "lateness-idle.svg" })
        #expect(chart.text.contains(">99\u{A0}%<"))
        #expect(!chart.text.contains(">99.9\u{A0}%<"))
    }

    @Test func theOrderOfResultsMakesNoDifference() {
        let series = [1_000, 10_000, 100_000].flatMap { size in
            System.allCases.map { fire($0, size, Double(size)) }
        }
        let files = Report.files(for: results(series: series))
        let reversed = Report.files(for: results(series: series.reversed()))
        #expect(files.map(\.text) == reversed.map(\.text))
    }

    @Test func thePageNeedsNothingFromElsewhere() throws {
        let page = Report.files(for: results(series: [fire(.uvRunLoop, 1_000, 80)]))[0].text
        #expect(!page.contains("<script") && !page.contains("<link") && !page.contains("url("))
    }

    private func fire(_ system: System, _ size: Int, _ cost: Double) -> Series {
        Series(
            job: "timers.fire",
            title: "Fire a due timer",
            system: system,
            size: size,
            sizeName: "timers",
            unit: .nanoseconds,
            samples: [cost]
        )
    }

    private func results(series: [Series] = []) -> Results {
        var results = Results(
            machine: Machine(
                name: "A machine",
                processor: "A processor",
                cores: 2,
                memory: "",
                kernel: "",
                distribution: "",
                swift: "",
                libuv: "",
                nio: "",
                date: "2000-01-01T00:00:00Z"
            ),
            rounds: 1,
            isQuick: false
        )
        results.series = series
        return results
    }
}
