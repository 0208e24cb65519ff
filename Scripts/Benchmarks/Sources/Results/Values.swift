/// One job of one system at one size: a sample a round.
public struct Series: Codable, Sendable {
    /// The job's short name: "timers.fire".
    public var job: String
    /// The job: "Fire a due timer".
    public var title: String
    /// Who did it.
    public var system: System
    /// How many there were of what ``sizeName`` names, for jobs of several sizes.
    public var size: Int?
    /// The things that the size counts: "timers".
    public var sizeName: String?
    /// The unit of the samples.
    public var unit: Unit
    /// The values, one a round.
    public var samples: [Double]

    /// Takes everything as it is.
    public init(
        job: String,
        title: String,
        system: System,
        size: Int?,
        sizeName: String?,
        unit: Unit,
        samples: [Double]
    ) {
        self.job = job
        self.title = title
        self.system = system
        self.size = size
        self.sizeName = sizeName
        self.unit = unit
        self.samples = samples
    }
}

/// Many values of one job of one system, as percentiles.
public struct Distribution: Codable, Sendable {
    /// The job's short name: "lateness.idle".
    public var job: String
    /// The measured quantity: "Lateness of a timer".
    public var title: String
    /// Who did it.
    public var system: System
    /// The unit of the values.
    public var unit: Unit
    /// How many values there are.
    public var count: Int
    /// The values at rising percentages.
    public var percentiles: [Percentile]

    /// Takes everything as it is.
    public init(
        job: String,
        title: String,
        system: System,
        unit: Unit,
        count: Int,
        percentiles: [Percentile]
    ) {
        self.job = job
        self.title = title
        self.system = system
        self.unit = unit
        self.count = count
        self.percentiles = percentiles
    }
}

/// The value that a share of all values does not exceed.
public struct Percentile: Codable, Sendable {
    /// The share, from 0 to 100.
    public var percent: Double
    /// The value.
    public var value: Double

    /// Takes both as they are.
    public init(percent: Double, value: Double) {
        self.percent = percent
        self.value = value
    }
}

/// How many system calls one operation of one system makes, counted exactly.
public struct Count: Codable, Sendable {
    /// The operation's short name: "pass".
    public var operation: String
    /// The operation: "A pass that finds nothing to do".
    public var title: String
    /// Who did it.
    public var system: System
    /// The number of system calls, on average.
    public var syscalls: Double

    /// Takes everything as it is.
    public init(operation: String, title: String, system: System, syscalls: Double) {
        self.operation = operation
        self.title = title
        self.system = system
        self.syscalls = syscalls
    }
}
