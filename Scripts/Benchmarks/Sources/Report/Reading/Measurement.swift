import Results

/// The result of the rounds of one job, one system and one size.
struct Measurement {
    let job: String
    let title: String
    let system: System
    let size: Int?
    let sizeName: String?
    let unit: Unit
    let median: Double
    /// From the smallest sample to the largest.
    let spread: ClosedRange<Double>
    /// The range that half of the samples lie in; `nil` for fewer than three.
    let middleHalf: ClosedRange<Double>?

    /// Fails when there is no sample.
    init?(_ series: Series) {
        let samples = series.samples.filter(\.isFinite).sorted()
        guard let smallest = samples.first, let largest = samples.last else { return nil }
        job = series.job
        title = series.title
        system = series.system
        size = series.size
        sizeName = series.sizeName
        unit = series.unit
        median = Measurement.quantile(0.5, of: samples)
        spread = smallest...largest
        middleHalf =
            samples.count < 3
            ? nil
            : Measurement.quantile(0.25, of: samples)...Measurement.quantile(0.75, of: samples)
    }

    /// The value below which a part of the sorted samples lies, between two of them if need be.
    private static func quantile(_ part: Double, of samples: [Double]) -> Double {
        let position = part * Double(samples.count - 1)
        let below = Int(position)
        let above = min(below + 1, samples.count - 1)
        return samples[below] + (samples[above] - samples[below]) * (position - Double(below))
    }
}

/// A job at one of its sizes.
struct JobSize: Hashable, Comparable {
    let job: String
    let size: Int?

    static func < (left: JobSize, right: JobSize) -> Bool {
        (left.job, left.size ?? -1) < (right.job, right.size ?? -1)
    }
}

/// All results, sorted: by job, by size, and by system in the order that `System` declares.
///
/// Only the operations whose system calls were counted stay in the order they were given in.
struct Measurements {
    let all: [Measurement]
    let distributions: [Distribution]
    let counts: [Count]

    init(_ results: Results) {
        all = results.series.compactMap(Measurement.init).sorted { left, right in
            (JobSize(job: left.job, size: left.size), left.system.place)
                < (JobSize(job: right.job, size: right.size), right.system.place)
        }
        distributions =
            results.distributions
            .filter { $0.percentiles.contains { $0.value.isFinite } }
            .sorted { ($0.job, $0.system.place) < ($1.job, $1.system.place) }
        counts =
            results.counts
            .filter(\.syscalls.isFinite)
            .inOrder(by: \.operation)
            .flatMap { $0.sorted { $0.system.place < $1.system.place } }
    }

    /// The measurements of a job, at all sizes.
    func of(_ job: String) -> [Measurement] { all.filter { $0.job == job } }
}

extension System {
    /// Where it stands in lists.
    var place: Int { System.allCases.firstIndex(of: self) ?? System.allCases.count }
}

extension Sequence<Measurement> {
    /// The systems among them, in the order of lists.
    var systems: [System] {
        let present = Set(map(\.system))
        return System.allCases.filter(present.contains)
    }

    /// The sizes among them, rising.
    var sizes: [Int] { Set(compactMap(\.size)).sorted() }
}
