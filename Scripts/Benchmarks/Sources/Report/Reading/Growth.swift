import Glibc

/// How a cost grows with a number of things, beside the logarithm of that number.
struct Growth {
    /// The limit of the cost's growth.
    enum Limit {
        case flat
        case logarithmic
    }

    enum Verdict {
        case flat
        case notAboveLogarithm
        case aboveLogarithm
    }

    struct Sample {
        let size: Double
        let cost: Double
    }

    /// By how much a cost may be above its limit: rounds differ by as much.
    static let slack = 1.25

    let smallest: Sample
    let largest: Sample
    let limit: Limit
    /// The e of the curve size^e that fits best; `nil` when fewer than two sizes are above zero.
    let exponent: Double?

    /// Fails when there are not two sizes with a cost.
    init?(_ samples: [Sample], limit: Limit) {
        let sorted =
            samples.filter { $0.cost > 0 && $0.size >= 0 }.sorted { $0.size < $1.size }
        guard let smallest = sorted.first, let largest = sorted.last,
            smallest.size < largest.size
        else { return nil }
        self.smallest = smallest
        self.largest = largest
        self.limit = limit
        exponent = Growth.slope(
            sorted.filter { $0.size > 0 }.map { Point(x: log($0.size), y: log($0.cost)) }
        )
    }

    /// The cost at the largest size, as a multiple of the one at the smallest.
    var ratio: Double { largest.cost / smallest.cost }

    /// The same ratio of something that costs 1 + log2 n.
    var logarithmicRatio: Double { logarithmicCost(at: largest.size) / smallest.cost }

    /// The cost at another size if it grew from the smallest size as 1 + log2 n does.
    func logarithmicCost(at size: Double) -> Double {
        smallest.cost * Growth.depth(size) / Growth.depth(smallest.size)
    }

    var verdict: Verdict {
        if ratio <= Growth.slack { return .flat }
        return ratio <= logarithmicRatio * Growth.slack ? .notAboveLogarithm : .aboveLogarithm
    }

    /// Whether the cost keeps to its limit.
    var isWithinLimit: Bool {
        switch limit {
        case .flat: verdict == .flat
        case .logarithmic: verdict != .aboveLogarithm
        }
    }

    private static func depth(_ size: Double) -> Double { 1 + log2(max(1, size)) }

    /// The slope of the straight line with the least squares.
    private static func slope(_ points: [Point]) -> Double? {
        let count = Double(points.count)
        let middleX = points.map(\.x).reduce(0, +) / count
        let middleY = points.map(\.y).reduce(0, +) / count
        let squares = points.map { ($0.x - middleX) * ($0.x - middleX) }.reduce(0, +)
        guard points.count >= 2, squares > 0 else { return nil }
        return points.map { ($0.x - middleX) * ($0.y - middleY) }.reduce(0, +) / squares
    }
}

extension Growth {
    /// The verdict in words.
    var sentence: String {
        switch (verdict, limit) {
        case (.flat, _): "Flat"
        case (.notAboveLogarithm, .logarithmic): "Grows no faster than log n"
        case (.notAboveLogarithm, .flat): "Grows like log n, and should be flat"
        case (.aboveLogarithm, _): "Grows faster than log n"
        }
    }

    /// The figures of the verdict in words.
    var reason: String {
        let sizes = "\(Figures.size(smallest.size)) to \(Figures.size(largest.size))"
        let curve = exponent.map { " (n^\(Figures.threeDigits($0)))" } ?? ""
        let allowed = "log n \(Figures.times(logarithmicRatio))"
        return "\(Figures.times(ratio)) from \(sizes)\(curve), \(allowed)"
    }
}
