import Results

/// One run of the benchmarks.
struct Session {
    let effort: Effort
    let rounds: Int
    let isWanted: (String) -> Bool
    private let progress = Progress()

    init(effort: Effort, rounds: Int, isWanted: @escaping (String) -> Bool) {
        self.effort = effort
        self.rounds = rounds
        self.isWanted = isWanted
    }

    /// Measures what is wanted.
    func measure() -> Findings {
        let results = Results(machine: .current, rounds: rounds, isQuick: effort.isQuick)
        var findings = Findings(results: results)
        let runner = Runner(effort: effort, rounds: rounds, progress: progress)
        for job in Plan.jobs(effort) where job.rows.contains(where: { isWanted($0.name) }) {
            runner.run(job, into: &findings)
        }
        findings.results.series.removeAll { !isWanted($0.job) }
        if isWanted(Catalogue.counts) { findings.results.counts = countSystemCalls() }
        progress.clear()
        return findings
    }

    private func countSystemCalls() -> [Count] {
        guard let path = Strace.path else {
            progress.note("strace is not installed, so no system calls are counted.")
            return []
        }
        let strace = Strace(path: path, effort: effort)
        var counts: [Count] = []
        for operation in Operation.allCases {
            for system in operation.systems {
                progress.show("system calls of \(operation.rawValue), \(system.rawValue)")
                guard let number = strace.syscalls(of: operation, by: system) else {
                    progress.note(
                        "strace may not watch processes here: no system calls are counted."
                    )
                    return counts
                }
                counts.append(
                    Count(
                        operation: operation.rawValue,
                        title: operation.title,
                        system: system,
                        syscalls: number
                    )
                )
            }
        }
        return counts
    }
}

/// The names by which jobs are asked for.
enum Catalogue {
    /// The system calls per operation.
    static let counts = "counts"

    private static var rows: [Row] { Plan.jobs(Effort(isQuick: false)).flatMap(\.rows) }

    static var names: [String] { rows.map(\.name) + [counts] }

    /// A line for each job.
    static var text: String {
        var table = TextTable(["job", ""], words: 2)
        for row in rows { table.add([row.name, row.title]) }
        table.add([counts, "System calls per operation"])
        return table.text
    }
}
