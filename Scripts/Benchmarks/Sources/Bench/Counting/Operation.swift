/// The operations whose system calls are counted.
enum Operation: String, CaseIterable {
    case pass, repeating, oneShot = "one-shot", tolerant, signal, block, job

    var title: String {
        switch self {
        case .pass: "a pass with nothing to do"
        case .repeating: "a fire of a repeating 1 ms timer"
        case .oneShot: "a fire of a one-shot timer, precise"
        case .tolerant: "a fire of a repeating timer, tolerance 2 ms"
        case .signal: "a signal and wake-up from another thread, both sides"
        case .block: "a block from another thread, both sides"
        case .job: "a task resumed by another thread, both sides"
        }
    }

    /// The most that the design allows.
    var budget: Double? {
        switch self {
        case .pass: 1
        case .repeating: 2
        case .oneShot: 3
        case .tolerant: 1
        case .signal, .block: 3
        case .job: nil
        }
    }

    /// How many are enough for a steady average.
    func count(_ effort: Effort) -> Int { count / effort.choose(1, quick: 4) }

    private var count: Int {
        switch self {
        case .pass: 1_000
        case .repeating, .oneShot: 300
        case .tolerant, .signal, .block: 150
        case .job: 20 * TaskBatch.size
        }
    }

    /// From one wake-up of another thread's to the next: time enough to fall asleep, even while
    /// somebody counts the system calls.
    static let pause: UInt32 = 3_000
    /// Repeating timers with a tolerance, in nanoseconds.
    static let tolerantInterval: Int64 = 5_000_000
    static let tolerance: Int64 = 2_000_000
    /// One-shot timers, in nanoseconds.
    static let delay: Int64 = 1_300_000
}
