import Results

/// One piece of work that every system does which can: set up alike, and measured alike.
struct Job {
    /// The form in which the samples are reported.
    enum Kind {
        /// A round gives one sample for each row.
        case samples
        /// A round gives many values, which become percentiles of the only row.
        case distribution
    }

    let rows: [Row]
    var kind = Kind.samples
    /// How many of what ``sizeName`` names; `nil` for a job of one size.
    var sizes: [Int?] = [nil]
    var sizeName: String?
    /// How many descriptors it takes for each of the size.
    var descriptorsEach = 0
    /// Whether a round that is not counted comes first.
    var warmsUp = true
    /// For jobs whose result is the same in every round.
    var rounds: Int?
    let contenders: [Contender]

    /// The name by which it is told from others: that of its first row.
    var name: String { rows[0].name }
}

/// A line of the results.
struct Row {
    let name: String
    let title: String
    var unit = Unit.nanoseconds
}

/// A system that can do a job.
struct Contender {
    let system: System
    /// The largest size that ends in bearable time.
    let largest: Int
    /// Sets up, measures and cleans up once, for a size, and yields a sample for each row.
    let measure: (Int) -> [Double]

    init(_ system: System, upTo largest: Int = .max, _ measure: @escaping (Int) -> [Double]) {
        self.system = system
        self.largest = largest
        self.measure = measure
    }
}

/// How much to do: less where somebody waits for it.
struct Effort {
    let isQuick: Bool

    /// Either of two, by how much there is to be done.
    func choose<Value>(_ full: Value, quick: Value) -> Value { isQuick ? quick : full }
}
