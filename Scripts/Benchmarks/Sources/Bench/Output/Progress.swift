import Glibc
import Results

/// Tells on standard error how far the program is.
///
/// On a terminal one line is written over and over; elsewhere each job gets a line of its own.
struct Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let start = now()

    func show(_ job: Job, size: Int?, round: Int, of rounds: Int, _ system: System) {
        guard isTerminal else { return }
        let round = round == 0 ? "warming up" : "round \(round) of \(rounds)"
        rewrite("\(seconds) s  \(name(of: job, size)): \(round), \(system.rawValue)")
    }

    func finish(_ job: Job, size: Int?) {
        if isTerminal { rewrite("") } else { write("\(seconds) s  \(name(of: job, size))\n") }
    }

    func skip(_ job: Job, size: Int) {
        note(
            """
            \(name(of: job, size)) was skipped: it needs more descriptors than this process may \
            open (\(DescriptorLimit.current); see ulimit -n).
            """
        )
    }

    /// Writes a sentence that stays.
    func note(_ sentence: String) {
        if isTerminal { rewrite("") }
        write("bench: \(sentence)\n")
    }

    /// Shows what is under way, on a terminal only.
    func show(_ text: String) {
        if isTerminal { rewrite("\(seconds) s  \(text)") }
    }

    func clear() {
        if isTerminal { rewrite("") }
    }

    private var seconds: Int64 { (now() - start) / 1_000_000_000 }

    private func name(of job: Job, _ size: Int?) -> String {
        let names = job.rows.map(\.name).joined(separator: ", ")
        guard let size else { return names }
        return "\(names), \(size) \(job.sizeName ?? "")"
    }

    private func rewrite(_ line: String) { write("\r\u{1B}[K\(line)") }

    private func write(_ text: String) {
        _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}
