/// Timers a minute or two ahead, which are changed in a scattered order before any is due.
struct FarTimers: Sendable {
    /// Nanoseconds from now.
    let delays: [Int64]
    /// The same ones for other timers.
    let otherDelays: [Int64]
    /// In which order the timers are changed.
    let order: [Int32]

    init(_ count: Int) {
        let range: Range<Int64> = 60_000_000_000..<120_000_000_000
        delays = Scatter.delays(count, in: range, seed: 2)
        otherDelays = Scatter.delays(count, in: range, seed: 3)
        order = Scatter.order(count, seed: 4)
    }

    var count: Int { delays.count }
}
