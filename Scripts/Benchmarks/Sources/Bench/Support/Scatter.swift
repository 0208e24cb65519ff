import BenchSupport

/// Numbers that look random and are the same in every run and for every system.
struct Scatter {
    private var numbers: SplitMix64

    init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

    private mutating func number(below limit: UInt64) -> UInt64 {
        numbers.next().multipliedFullWidth(by: limit).high
    }

    /// Nanoseconds, scattered evenly over a range.
    static func delays(_ count: Int, in range: Range<Int64>, seed: UInt64) -> [Int64] {
        var scatter = Scatter(seed: seed)
        let width = UInt64(range.upperBound - range.lowerBound)
        return (0..<count).map { _ in range.lowerBound + Int64(scatter.number(below: width)) }
    }

    /// The numbers below a count, shuffled.
    static func order(_ count: Int, seed: UInt64) -> [Int32] {
        var scatter = Scatter(seed: seed)
        var order = (0..<Int32(count)).map { $0 }
        for index in stride(from: count - 1, to: 0, by: -1) {
            order.swapAt(index, Int(scatter.number(below: UInt64(index + 1))))
        }
        return order
    }
}
