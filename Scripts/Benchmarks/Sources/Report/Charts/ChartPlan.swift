/// Which results a chart shows, and how.
enum ChartPlan {
    /// A line for each system, over the sizes of a job. What is written on the vertical axis says
    /// what a value is a measure of.
    case lines(job: String, measure: String, x: Scale.Kind, y: Scale.Kind)
    /// A bar for each system, in a group for each job.
    case bars(name: String, title: String, jobs: [String], measure: String)
    /// A line for each system, over the percentiles of a distribution.
    case percentiles(job: String)
    /// A bar for each system, in a group for each operation.
    case systemCalls
    /// The line of this library over the sizes of a job, with a verdict; beside it those of its
    /// peers, unless another chart has them.
    case growth(job: String, limit: Growth.Limit)

    /// The jobs it shows, whether or not they were measured.
    var jobs: [String] {
        switch self {
        case .lines(let job, _, _, _), .percentiles(let job), .growth(let job, _): [job]
        case .bars(_, _, let jobs, _): jobs
        case .systemCalls: []
        }
    }
}

/// Charts under a heading.
struct SectionPlan {
    let title: String
    let remark: String
    let charts: [ChartPlan]
}

extension SectionPlan {
    /// The sections of the page, with charts of which nothing may have been measured.
    static func all(for measurements: Measurements) -> [SectionPlan] {
        let planned = planned + [growth(measurements)]
        let claimed = Set(planned.flatMap(\.charts).flatMap(\.jobs))
        return planned + [others(measurements, besides: claimed)]
    }

    private static let planned = [
        SectionPlan(
            title: "Timers",
            remark: "What a timer costs, by how many there are.",
            charts: [
                timers("insert"), timers("fire"), timers("cancel"), timers("redate"),
                .bars(
                    name: "timers-memory",
                    title: "Memory of a scheduled timer",
                    jobs: ["timers.memory"],
                    measure: "bytes per timer"
                ),
                .bars(
                    name: "tolerance",
                    title: "Wake-ups for timers with a tolerance",
                    jobs: ["tolerance"],
                    measure: "wake-ups per second"
                ),
            ]
        ),
        SectionPlan(
            title: "Lateness",
            remark: "How long after its date a timer fires, from the median to the rarest cases.",
            charts: [
                .percentiles(job: "lateness.idle"), .percentiles(job: "lateness.busy"),
                .percentiles(job: "lateness.load"),
            ]
        ),
        SectionPlan(
            title: "Work from other threads",
            remark: "Blocks that threads hand to a loop, and wake-ups between two loops.",
            charts: [
                .lines(
                    job: "perform",
                    measure: "blocks per second",
                    x: .linear,
                    y: .linear
                ),
                .bars(
                    name: "threads",
                    title: "Round trips and threads",
                    jobs: ["pingpong", "thread"],
                    measure: "time each"
                ),
            ]
        ),
        SectionPlan(
            title: "Passes and runs",
            remark: "What a loop costs whose sources have little to do.",
            charts: [
                .bars(
                    name: "pass",
                    title: "One pass",
                    jobs: ["pass", "pass.observed"],
                    measure: "time per pass"
                ),
                .bars(
                    name: "runs",
                    title: "A run that handles one source",
                    jobs: ["runs"],
                    measure: "time per run"
                ),
                .lines(job: "modes", measure: "time per pass", x: .logarithmic, y: .logarithmic),
                .lines(job: "nested", measure: "time per run", x: .logarithmic, y: .logarithmic),
            ]
        ),
        SectionPlan(
            title: "Descriptors and system calls",
            remark: "What the kernel is asked for, and what it costs to ask.",
            charts: [
                .lines(job: "descriptors", measure: "time per event", x: .linear, y: .linear),
                .systemCalls,
            ]
        ),
    ]

    private static func timers(_ job: String) -> ChartPlan {
        .lines(
            job: "timers.\(job)",
            measure: "time per timer",
            x: .logarithmic,
            y: .logarithmic
        )
    }

    private static func growth(_ measurements: Measurements) -> SectionPlan {
        let timers = ["insert", "fire", "cancel", "redate"].map { "timers.\($0)" }
        let flat: Set = ["growth.descriptors", "growth.threads"]
        let measured = Set(measurements.all.map(\.job).filter { $0.hasPrefix("growth.") })
        return SectionPlan(
            title: "How cost grows",
            remark: """
                What an operation costs as the number of things beside it grows. No cost may grow \
                faster than log n, and events of descriptors and of threads have to cost the same \
                however many there are. The dotted lines are these limits; up to \
                \(Figures.times(Growth.slack)) a limit is taken for noise. These are times, so \
                they have in them what larger data costs the processor's caches.
                """,
            charts: (timers + measured.sorted()).map {
                .growth(job: $0, limit: flat.contains($0) ? .flat : .logarithmic)
            }
        )
    }

    /// Everything else that was measured, so that nothing is hidden.
    private static func others(
        _ measurements: Measurements,
        besides claimed: Set<String>
    ) -> SectionPlan {
        let jobs = Set(measurements.all.map(\.job)).subtracting(claimed).sorted()
        let distributions = Set(measurements.distributions.map(\.job)).subtracting(claimed)
        return SectionPlan(
            title: "Other jobs",
            remark: "",
            charts: jobs.map {
                .lines(job: $0, measure: "each", x: .logarithmic, y: .logarithmic)
            } + distributions.sorted().map { .percentiles(job: $0) }
        )
    }
}
