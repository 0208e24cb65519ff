import Results
import Testing

@testable import Report

@Suite struct FiguresTests {
    @Test(arguments: [
        (0.0, "0.00 ns"), (9.996, "10.0 ns"), (268, "268 ns"), (999.6, "1.00 µs"),
        (15_940, "15.9 µs"), (1_128_000, "1.13 ms"), (2e9, "2.00 s"),
    ])
    func timesHaveThreeDigits(nanoseconds: Double, text: String) {
        #expect(plain(Figures.text(nanoseconds, .nanoseconds)) == text)
    }

    @Test func otherUnitsHaveTheirOwnPrefixes() {
        #expect(plain(Figures.text(13_600_000, .perSecond)) == "13.6 M/s")
        #expect(plain(Figures.text(1_024, .bytes)) == "1,024 B")
        #expect(plain(Figures.text(41.25, .wakeUpsPerSecond)) == "41.3 /s")
    }

    @Test func rangesNameAUnitOnce() {
        #expect(plain(Figures.range(900...950, .nanoseconds)) == "900 to 950 ns")
        #expect(plain(Figures.range(900...1_200, .nanoseconds)) == "900 ns to 1.20 µs")
    }

    @Test func sizesAreShortWhereTheyAreRound() {
        let sizes: [Double] = [0, 8, 1_000, 1_024, 2_500, 1_000_000]
        #expect(
            sizes.map { plain(Figures.size($0)) } == ["0", "8", "1 k", "1,024", "2.5 k", "1 M"]
        )
    }

    @Test func ticksHaveNoZerosAtTheirEnd() {
        let ticks: [Double] = [0, 500, 1_000, 2_500]
        #expect(
            ticks.map { plain(Figures.tick($0, .nanoseconds)) } == [
                "0", "500 ns", "1 µs", "2.5 µs",
            ]
        )
    }

    /// A text with spaces where it has those that no line may end at.
    private func plain(_ text: String) -> String {
        String(text.map { $0 == "\u{A0}" ? " " : $0 })
    }
}
