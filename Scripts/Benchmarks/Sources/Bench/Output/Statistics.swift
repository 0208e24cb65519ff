import BenchSupport
import Results

extension Results {
    /// The median of a system's samples for a job and a size; `nil` if it was not run.
    func median(_ job: String, _ system: System, _ size: Int? = nil) -> Double? {
        series.first { $0.job == job && $0.system == system && $0.size == size }?.samples.median
    }

    /// A percentile of a system's values; `nil` if it was not run.
    func percentile(_ percent: Double, _ job: String, _ system: System) -> Double? {
        distributions.first { $0.job == job && $0.system == system }?.value(at: percent)
    }

    /// How many system calls an operation of a system makes; `nil` if they were not counted.
    func count(_ operation: String, _ system: System) -> Double? {
        counts.first { $0.operation == operation && $0.system == system }?.syscalls
    }

    /// The sizes at which a system did a job.
    func sizes(_ job: String, _ system: System) -> [Int] {
        series.filter { $0.job == job && $0.system == system }.compactMap(\.size)
    }
}

extension Distribution {
    func value(at percent: Double) -> Double? {
        percentiles.first { $0.percent == percent }?.value
    }
}
