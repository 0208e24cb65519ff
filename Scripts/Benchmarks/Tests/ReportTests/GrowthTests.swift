import Testing

@testable import Report

@Suite struct GrowthTests {
    private let sizes = [1_000.0, 10_000, 100_000, 1_000_000]

    @Test func whatStaysTheSameIsFlat() throws {
        let growth = try #require(growth { _ in 100 })
        #expect(growth.verdict == .flat)
        #expect(growth.ratio == 1)
        #expect(abs(try #require(growth.exponent)) < 1e-9)
    }

    @Test func whatGrowsLikeALogarithmIsNotAboveIt() throws {
        let growth = try #require(growth { $0 < 1_000_000 ? 100 : 230 })
        #expect(growth.verdict == .notAboveLogarithm)
        #expect(growth.isWithinLimit)
        #expect(abs(growth.logarithmicRatio - 1.91) < 0.005)
    }

    @Test func whatGrowsLikeARootIsAboveALogarithm() throws {
        let growth = try #require(growth { $0.squareRoot() })
        #expect(growth.verdict == .aboveLogarithm)
        #expect(!growth.isWithinLimit)
        #expect(abs(try #require(growth.exponent) - 0.5) < 1e-9)
    }

    @Test func whatHasToBeFlatMayNotGrowLikeALogarithm() throws {
        let growth = try #require(growth(.flat) { $0 < 1_000_000 ? 100 : 150 })
        #expect(growth.verdict == .notAboveLogarithm)
        #expect(!growth.isWithinLimit)
    }

    @Test func oneSizeTellsNothing() {
        #expect(Growth([Growth.Sample(size: 10, cost: 1)], limit: .flat) == nil)
    }

    private func growth(
        _ limit: Growth.Limit = .logarithmic,
        cost: (Double) -> Double
    ) -> Growth? {
        Growth(sizes.map { Growth.Sample(size: $0, cost: cost($0)) }, limit: limit)
    }
}
