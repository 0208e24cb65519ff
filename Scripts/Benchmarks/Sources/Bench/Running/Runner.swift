import BenchSupport
import Histogram
import Results

/// The findings of a run of the benchmarks.
struct Findings {
    var results: Results
    /// How many timers fired before their date, by job and system.
    var early: [Early] = []

    struct Early {
        let job: String
        let system: System
        let count: Int
    }
}

/// Measures jobs, round by round, every system once in each round.
struct Runner {
    let effort: Effort
    let rounds: Int
    let progress: Progress

    /// Adds what a job yields to the findings.
    ///
    /// Most jobs begin with a round that is not counted, so that nobody pays for pages and threads
    /// that are made once.
    func run(_ job: Job, into findings: inout Findings) {
        let contestants = job.contenders.map { Contestant($0, in: job, effort) }
        defer { for contestant in contestants { contestant.end() } }
        for size in job.sizes {
            if let size, !hasDescriptors(for: size, of: job) {
                progress.skip(job, size: size)
            } else {
                measure(job, contestants, size: size, into: &findings)
            }
        }
    }

    private func hasDescriptors(for size: Int, of job: Job) -> Bool {
        job.descriptorsEach * size + 200 < DescriptorLimit.number
    }

    private func measure(
        _ job: Job,
        _ contestants: [Contestant],
        size: Int?,
        into findings: inout Findings
    ) {
        let contestants = contestants.filter { $0.largest >= size ?? 0 }
        var samples = contestants.map { _ in job.rows.map { _ in [Double]() } }
        let rounds = job.rounds ?? self.rounds
        for round in (job.warmsUp ? 0 : 1)...rounds {
            for (index, contestant) in contestants.enumerated() {
                progress.show(job, size: size, round: round, of: rounds, contestant.system)
                let values = contestant.measure(size ?? 0)
                if round > 0 { job.note(values, in: &samples[index]) }
            }
        }
        for (contestant, samples) in zip(contestants, samples) {
            job.report(samples, of: contestant.system, size: size, to: &findings)
        }
        progress.finish(job, size: size)
    }
}

extension Job {
    /// Keeps what one system yielded in one round.
    fileprivate func note(_ values: [Double], in samples: inout [[Double]]) {
        switch kind {
        case .samples: for (index, value) in values.enumerated() { samples[index].append(value) }
        case .distribution: samples[0] += values
        }
    }

    /// Turns what one system yielded in all rounds into results.
    fileprivate func report(
        _ samples: [[Double]],
        of system: System,
        size: Int?,
        to findings: inout Findings
    ) {
        for (row, samples) in zip(rows, samples) where !samples.isEmpty {
            switch kind {
            case .samples:
                findings.results.series.append(series(row, samples, of: system, size: size))
            case .distribution:
                findings.results.distributions.append(Distribution(row, system, samples))
                let early = samples.count { $0 < 0 }
                findings.early.append(.init(job: row.name, system: system, count: early))
            }
        }
    }

    private func series(
        _ row: Row,
        _ samples: [Double],
        of system: System,
        size: Int?
    ) -> Series {
        Series(
            job: row.name,
            title: row.title,
            system: system,
            size: size,
            sizeName: size == nil ? nil : sizeName,
            unit: row.unit,
            samples: samples
        )
    }
}

extension Distribution {
    /// The percentages that are written down: close together where distributions differ.
    private static let percents: [Double] = [
        0, 1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 98, 99, 99.5, 99.9, 100,
    ]

    /// Makes percentiles of single values; one before its date, which is negative, counts as zero.
    init(_ row: Row, _ system: System, _ values: [Double]) {
        var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
        for value in values { histogram.record(UInt64(max(value, 0))) }
        self.init(
            job: row.name,
            title: row.title,
            system: system,
            unit: row.unit,
            count: values.count,
            percentiles: Self.percents.map { percent in
                let value = Double(histogram.valueAtPercentile(percent))
                return Percentile(percent: percent, value: value)
            }
        )
    }
}
