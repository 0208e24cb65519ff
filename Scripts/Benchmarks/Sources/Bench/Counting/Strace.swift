import BenchSupport
import Foundation
import Results

/// Counts the system calls of operations, with strace, which sees every one.
struct Strace {
    /// Where it is installed; `nil` if it is not, or may not watch processes here.
    static let path: String? = {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/strace" }.first { access($0, X_OK) == 0 }
    }()

    let path: String
    let effort: Effort

    /// How many system calls one operation makes, on average.
    ///
    /// System calls at the program's start and end cancel out: the second run makes twice as many
    /// operations, and the difference counts. Where the average is no whole number, threads may
    /// have met at a lock, held up by being watched, which only adds calls: the fewest of a few
    /// attempts count.
    ///
    /// - Returns: The number, or `nil` if strace failed.
    func syscalls(of operation: Operation, by system: System) -> Double? {
        let count = operation.count(effort)
        var (fewestOnce, fewestTwice) = (Int.max, Int.max)
        var average = 0.0
        for _ in 0..<3 {
            guard let once = syscalls(of: operation, by: system, times: count),
                let twice = syscalls(of: operation, by: system, times: 2 * count)
            else { return nil }
            (fewestOnce, fewestTwice) = (min(fewestOnce, once), min(fewestTwice, twice))
            average = Double(fewestTwice - fewestOnce) / Double(count)
            if abs(average - average.rounded()) < 0.02 { break }
        }
        return average
    }

    /// How many system calls all threads of a process make together, without the pauses that
    /// ``PacedSender`` makes.
    private func syscalls(of operation: Operation, by system: System, times: Int) -> Int? {
        // A file without a name, so that nothing stays behind, whenever this program ends.
        guard let output = tmpfile() else { return nil }
        defer { fclose(output) }
        let file = "/proc/\(getpid())/fd/\(fileno(output))"
        let words = [
            path, "-f", "-qq", "-e", "trace=!clock_nanosleep,nanosleep", "-e", "signal=none",
            "-o", file,
            Strace.program, "count", system.word, operation.rawValue, String(times),
        ]
        guard ChildProcess(path, words)?.wait() == true,
            let text = try? String(contentsOfFile: file, encoding: .utf8)
        else {
            return nil
        }
        // A call that another thread interrupts has two lines, and the second says so.
        return text.split(separator: "\n").count {
            !$0.contains(" resumed>") && !$0.contains("+++")
        }
    }

    private static let program: String = {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
    }()
}
