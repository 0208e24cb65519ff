import TestSupport
import Testing

@testable import UVRunLoopTesting

/// The lines of a comparison, and times in text.
@Suite(.timeLimit(.minutes(15))) struct DifferenceLineTests {
    @Test func theLinesAreThoseOfBothLists() {
        var numbers = SeededGenerator(seed: 1)
        for _ in 0..<1_000 {
            let expected = (0..<numbers.below(8)).map { _ in "\(numbers.below(4))" }
            let found = (0..<numbers.below(8)).map { _ in "\(numbers.below(4))" }
            let lines = DifferenceLine.lines(expected: expected, found: found)
            #expect(lines.filter { $0.kind != .unexpected }.map(\.text) == expected)
            #expect(lines.filter { $0.kind != .missing }.map(\.text) == found)
            let isSame = lines.allSatisfy { $0.kind == .same }
            #expect(isSame == (expected == found))
        }
    }

    /// A failing test of a long log must end, too.
    @Test(arguments: [3, 50_000])
    func longListsThatDifferEverywhereAreShownOneAfterTheOther(count: Int) {
        let expected = (0..<count).map { "\($0)" }
        let others = (0..<100_000).map { "+\($0)" }
        let found = [expected[0]] + others + [expected[count - 1]]
        let lines = DifferenceLine.lines(expected: expected, found: found)
        #expect(lines.filter { $0.kind != .unexpected }.map(\.text) == expected)
        #expect(lines.filter { $0.kind != .missing }.map(\.text) == found)
        #expect(lines.first?.kind == .same && lines.last?.kind == .same)
        #expect(lines.dropFirst().prefix(min(count - 2, 64)).allSatisfy { $0.kind == .missing })
    }

    @Test func fewDifferencesInALongListAreFound() {
        let expected = (0..<20_000).map { "\($0)" }
        var found = expected
        found[0] = "first"
        found[19_999] = "last"
        found.remove(at: 100)
        found.insert(contentsOf: ["new", "newer"], at: 15_000)
        let lines = DifferenceLine.lines(expected: expected, found: found)
        let missing = lines.filter { $0.kind == .missing }.map(\.text)
        let unexpected = lines.filter { $0.kind == .unexpected }.map(\.text)
        #expect(missing == ["0", "100", "19999"])
        #expect(unexpected == ["first", "new", "newer", "last"])
    }

    @Test func secondsAreExact() {
        let texts: [Int64: String] = [
            0: "0 s", 1: "0.000000001 s", 1_500_000_000: "1.5 s", 86_400_000_000_000: "86400 s",
            -2_000_000_001: "-2.000000001 s", 10_000_000: "0.01 s",
            .max: "9223372036.854775807 s",
        ]
        for (nanoseconds, text) in texts { #expect("\(Seconds(nanoseconds))" == text) }
    }
}
