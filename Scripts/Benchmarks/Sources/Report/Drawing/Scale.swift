import Glibc

/// Where values lie along an axis, and which of them deserve a tick.
struct Scale: Equatable {
    enum Kind {
        case linear
        case logarithmic
        /// As HDR histograms are drawn: 90, 99 and 99.9 % are equally far apart.
        case percentile
    }

    let kind: Kind
    let lowest: Double
    let highest: Double
    /// Rising, none outside.
    let ticks: [Double]

    /// How far along the axis a value lies: 0 at its beginning, 1 at its end.
    func fraction(of value: Double) -> Double {
        let begin = stretched(lowest)
        return (stretched(value) - begin) / (stretched(highest) - begin)
    }

    private func stretched(_ value: Double) -> Double {
        switch kind {
        case .linear: value
        case .logarithmic: log10(value)
        case .percentile: -log10(1 - value / 100)
        }
    }
}

extension Scale {
    /// From zero to a round value that is not below the largest, with four to six ticks.
    static func linear(upTo largest: Double) -> Scale? {
        guard largest.isFinite, largest > 0 else { return nil }
        let step = roundAbove(largest / 5)
        // A largest value on a tick, give or take a rounding error, needs no step more.
        let steps = (largest / step - 1e-9).rounded(.up)
        return Scale(
            kind: .linear,
            lowest: 0,
            highest: steps * step,
            ticks: (0...Int(steps)).map { Double($0) * step }
        )
    }

    /// Up to the largest value, from zero or, with logarithms, from the smallest value above it.
    ///
    /// Ticks are at the values themselves.
    static func measured(at values: some Sequence<Double>, _ kind: Kind) -> Scale? {
        let ticks = Set(values.filter { $0.isFinite && ($0 > 0 || kind == .linear) }).sorted()
        guard let smallest = ticks.first, let largest = ticks.last else { return nil }
        let lowest = kind == .linear ? min(0, smallest) : smallest
        guard lowest < largest else { return nil }
        return Scale(kind: kind, lowest: lowest, highest: largest, ticks: ticks)
    }

    /// Around the values, at 1, 2 or 5 times a power of ten at both ends.
    ///
    /// Ticks are at 1, 2 and 5 times each power of ten, or at the powers where that would be too
    /// many.
    static func logarithmic(around values: some Sequence<Double>) -> Scale? {
        let positive = values.filter { $0.isFinite && $0 > 0 }
        guard let smallest = positive.min(), let largest = positive.max() else { return nil }
        let lowest = roundBelow(smallest)
        // A scale needs some length, and less than a decade makes trifles seem a trend.
        let highest = max(roundAbove(largest), roundAbove(lowest * 10))
        return Scale(
            kind: .logarithmic,
            lowest: lowest,
            highest: highest,
            ticks: logarithmicTicks(lowest, highest)
        )
    }

    /// From the median up to the largest percentage below 100, with ticks at 50, 90, 99 and so on.
    static func percentile(upTo percentages: some Sequence<Double>) -> Scale? {
        guard let largest = percentages.filter({ $0 < 100 }).max(), largest > 50 else {
            return nil
        }
        let ticks = [50, 90, 99, 99.9, 99.99, 99.999].filter { $0 <= largest }
        return Scale(kind: .percentile, lowest: 50, highest: largest, ticks: ticks)
    }

    private static func logarithmicTicks(_ lowest: Double, _ highest: Double) -> [Double] {
        let decades = log10(highest / lowest)
        // Decades every 1, 2, 3 … powers of ten, so that at most seven of them have a label.
        let stride = max(1, Int((decades / 6).rounded(.up)))
        return roundValues.filter { tick in
            guard tick.value >= lowest * almostOne, tick.value * almostOne <= highest else {
                return false
            }
            return decades <= 2 || (tick.digit == 1 && tick.exponent.isMultiple(of: stride))
        }
        .map(\.value)
    }

    /// Forgives the rounding errors of powers.
    private static let almostOne = 1 - 1e-9

    /// 1, 2 and 5 times the powers of ten, rising.
    private static let roundValues = (-12...18).flatMap { exponent in
        [1, 2, 5].map { digit in
            let power = pow(10, Double(abs(exponent)))
            let value = exponent < 0 ? Double(digit) / power : Double(digit) * power
            return (digit: digit, exponent: exponent, value: value)
        }
    }

    private static func roundBelow(_ value: Double) -> Double {
        roundValues.last { $0.value * almostOne <= value }?.value ?? value
    }

    private static func roundAbove(_ value: Double) -> Double {
        roundValues.first { $0.value >= value * almostOne }?.value ?? value
    }
}
