import ArgumentParser
import BenchSupport
import Glibc
import Results

/// Has one system do one job, once for each line that is read.
struct MeasureAlone: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure",
        abstract:
            "Has one system do one job, once for each size that is read, and writes its results."
    )

    @Argument(help: "The job: the first of its names in --list.")
    var job: String

    @Argument(help: "Who does it: \(System.words).")
    var system: String

    @ParentCommand var bench: Bench

    func run() throws {
        let jobs = Plan.jobs(Effort(isQuick: bench.quick))
        guard let job = jobs.first(where: { $0.name == job }) else {
            throw ValidationError("There is no job '\(job)'.")
        }
        let system = try System(word: system)
        guard let contender = job.contenders.first(where: { $0.system == system }) else {
            throw ValidationError("\(system.rawValue) does not do \(job.name).")
        }
        DescriptorLimit.raise()
        while let line = Self.readSize() {
            guard let size = Int(line), size >= 0 else {
                throw ValidationError("'\(line)' is not a size.")
            }
            Output.say(contender.measure(size).map { "\($0)" }.joined(separator: " "))
        }
    }

    /// `readLine()` tries again for ever at the end of the input if an earlier call was interrupted.
    private static func readSize() -> String? {
        errno = 0
        return readLine()
    }
}
