import BenchSupport
import Results

/// Tells on standard error how far the program is.
///
/// On a terminal one line is written over and over; elsewhere each job gets a line of its own.
struct Progress {
    private let start = now()

    func show(_ job: Job, size: Int?, round: Int, of rounds: Int, _ system: System) {
        let round = round == 0 ? "warming up" : "round \(round) of \(rounds)"
        show("\(name(of: job, size)): \(round), \(system.rawValue)")
    }

    func finish(_ job: Job, size: Int?) {
        clear()
        if !Output.isTerminal { Output.complain("\(seconds) s  \(name(of: job, size))") }
    }

    func skip(_ job: Job, size: Int) {
        note(
            """
            \(name(of: job, size)) was skipped: it needs more descriptors than this process may \
            open (\(DescriptorLimit.number); see ulimit -n).
            """
        )
    }

    /// Writes a sentence that stays.
    func note(_ sentence: String) {
        clear()
        Output.complain("bench: \(sentence)")
    }

    /// Shows what is under way, on a terminal only.
    func show(_ text: String) { Output.showProgress("\(seconds) s  \(text)") }

    func clear() { Output.showProgress("") }

    private var seconds: Int64 { (now() - start) / 1_000_000_000 }

    private func name(of job: Job, _ size: Int?) -> String {
        let names = job.rows.map(\.name).joined(separator: ", ")
        guard let size else { return names }
        return "\(names), \(size) \(job.sizeName ?? "")"
    }
}
