import BenchSupport

/// Figures as they are printed.
enum Table {
    /// The value that a percentage of the values do not exceed.
    static func percentile(_ percent: Int, of values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.last else { return 0 }
        let index = sorted.count * percent / 100
        return index < sorted.count ? sorted[index] : last
    }

    /// The smallest and the largest value.
    static func spread(_ values: [Double]) -> String {
        "\(Text.decimal(values.min() ?? 0, 2)) to \(Text.decimal(values.max() ?? 0, 2))"
    }
}
