/// The results of one run of the benchmarks, and the machine that they were measured on.
public struct Results: Codable, Sendable {
    /// Where it was measured.
    public var machine: Machine
    /// How many samples each system gave for each job.
    public var rounds: Int
    /// Whether fewer sizes and rounds were measured, to save time.
    public var isQuick: Bool
    /// Samples, one a round.
    public var series: [Series]
    /// Many single values, as percentiles.
    public var distributions: [Distribution]
    /// System calls per operation.
    public var counts: [Count]

    /// Begins with what is known before anything was measured.
    public init(machine: Machine, rounds: Int, isQuick: Bool) {
        self.machine = machine
        self.rounds = rounds
        self.isQuick = isQuick
        series = []
        distributions = []
        counts = []
    }
}

/// The machine, and the versions of what was measured on it.
public struct Machine: Codable, Sendable {
    /// The name of the machine.
    public var name: String
    /// The model of its processor.
    public var processor: String
    /// How many threads it runs at the same time.
    public var cores: Int
    /// Its memory, as people write it: "24 GiB".
    public var memory: String
    /// The kernel's version.
    public var kernel: String
    /// The Linux distribution, with its version.
    public var distribution: String
    /// The compiler's version.
    public var swift: String
    /// The version of libuv.
    public var libuv: String
    /// The version of SwiftNIO.
    public var nio: String
    /// The day and time of the measurement, as in ISO 8601.
    public var date: String

    /// Takes everything as it is.
    public init(
        name: String,
        processor: String,
        cores: Int,
        memory: String,
        kernel: String,
        distribution: String,
        swift: String,
        libuv: String,
        nio: String,
        date: String
    ) {
        self.name = name
        self.processor = processor
        self.cores = cores
        self.memory = memory
        self.kernel = kernel
        self.distribution = distribution
        self.swift = swift
        self.libuv = libuv
        self.nio = nio
        self.date = date
    }
}

/// The systems that do the same jobs.
public enum System: String, Codable, CaseIterable, Sendable {
    case uvRunLoop = "UVRunLoop"
    case libuv = "libuv (C)"
    case cfRunLoop = "CFRunLoop"
    case nio = "SwiftNIO"
    case dispatch = "Dispatch"
    /// The threads on which the concurrency runtime runs tasks that prefer no executor.
    case pool = "Swift's pool"
}

/// The units of values; lower values are better, except of ``perSecond``.
public enum Unit: String, Codable, Sendable {
    case nanoseconds = "ns"
    case perSecond = "/s"
    case bytes = "B"
    case wakeUpsPerSecond = "wake-ups/s"
}
