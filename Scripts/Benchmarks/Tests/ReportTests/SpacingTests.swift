import Testing

@testable import Report

@Suite struct SpacingTests {
    @Test func whatIsFarApartStaysWhereItIs() {
        #expect(Spacing.spread([10, 50], apart: 17, within: 0...100) == [10, 50])
    }

    @Test func neighboursMoveBothWays() {
        #expect(Spacing.spread([50, 50, 50], apart: 10, within: 0...100) == [40, 50, 60])
    }

    @Test func nothingLeavesTheRange() {
        #expect(Spacing.spread([1, 2], apart: 10, within: 0...100) == [0, 10])
        #expect(Spacing.spread([98, 99], apart: 10, within: 0...100) == [90, 100])
    }
}
