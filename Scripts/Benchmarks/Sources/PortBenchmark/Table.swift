/// Figures as they are printed.
enum Table {
    static func median(_ values: [Double]) -> Double { percentile(50, of: values) }

    /// The value that a percentage of the values do not exceed.
    static func percentile(_ percent: Int, of values: [Double]) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.last else { return 0 }
        let index = sorted.count * percent / 100
        return index < sorted.count ? sorted[index] : last
    }

    /// The smallest and the largest value.
    static func spread(_ values: [Double]) -> String {
        "\(twoDecimals(values.min() ?? 0)) to \(twoDecimals(values.max() ?? 0))"
    }

    static func twoDecimals(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
