import Testing

@testable import Report

@Suite struct ScaleTests {
    @Test(arguments: [
        (1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), (16.0, [0.0, 5.0, 10.0, 15.0, 20.0]),
        (3_360.0, [0.0, 1_000.0, 2_000.0, 3_000.0, 4_000.0]),
    ])
    func linearTicksAreRoundAndReachTheLargestValue(largest: Double, ticks: [Double]) throws {
        let scale = try #require(Scale.linear(upTo: largest))
        #expect(scale.ticks.count == ticks.count)
        #expect(zip(scale.ticks, ticks).allSatisfy { abs($0 - $1) < 1e-9 * largest })
        #expect(scale.highest == scale.ticks.last)
    }

    @Test func logarithmicTicksOfAShortScaleAreAtOneTwoAndFive() throws {
        let scale = try #require(Scale.logarithmic(around: [93.5, 611, 1_160]))
        #expect(scale.ticks == [50, 100, 200, 500, 1_000, 2_000])
    }

    @Test func logarithmicTicksOfALongScaleAreAtPowersOfTen() throws {
        let scale = try #require(Scale.logarithmic(around: [78, 82_700]))
        #expect(scale.ticks == [100, 1_000, 10_000, 100_000])
        #expect(scale.lowest == 50)
    }

    @Test func logarithmicTicksOfAVeryLongScaleLeavePowersOut() throws {
        let scale = try #require(Scale.logarithmic(around: [1, 1e12]))
        #expect(scale.ticks == [1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12])
    }

    @Test func valuesThatHardlyDifferStillGetADecade() throws {
        let scale = try #require(Scale.logarithmic(around: [310, 330]))
        #expect(scale.highest / scale.lowest >= 10)
    }

    @Test func powersOfTenAreEquallyFarApart() throws {
        let scale = try #require(Scale.logarithmic(around: [1, 1_000]))
        #expect(
            [1, 10, 100, 1_000].map { (scale.fraction(of: $0) * 3).rounded() } == [0, 1, 2, 3]
        )
    }

    @Test func ninesAreEquallyFarApart() throws {
        let scale = try #require(Scale.percentile(upTo: [50, 90, 99, 99.9, 100]))
        #expect(scale.ticks == [50, 90, 99, 99.9])
        let steps = [90, 99, 99.9].map(scale.fraction)
        #expect(abs((steps[1] - steps[0]) - (steps[2] - steps[1])) < 1e-9)
    }

    @Test func measuredSizesAreTheTicks() throws {
        let linear = try #require(Scale.measured(at: [8_000, 0, 1_000, 0], .linear))
        #expect(linear.ticks == [0, 1_000, 8_000])
        let logarithmic = try #require(Scale.measured(at: [0, 1, 100], .logarithmic))
        #expect(logarithmic.ticks == [1, 100])
    }

    @Test func thereIsNoScaleWithoutValues() {
        #expect(Scale.linear(upTo: 0) == nil)
        #expect(Scale.linear(upTo: .infinity) == nil)
        #expect(Scale.logarithmic(around: [0, -1, .nan]) == nil)
        #expect(Scale.measured(at: [1_000], .logarithmic) == nil)
        #expect(Scale.percentile(upTo: [50, 100]) == nil)
    }
}
