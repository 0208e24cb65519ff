import BenchSupport
import ArgumentParser
import Foundation
import Report
import Results

/// Measures the run loop beside its peers.
@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract:
            "Measures UVRunLoop side by side with libuv in C, CFRunLoop, SwiftNIO and Dispatch.",
        discussion: """
            Every system runs the same jobs, in turn in each round and in a process of its own. \
            The tables show the median, the lowest and the highest of the rounds, and UVRunLoop's \
            figure divided by the peer's. It takes minutes and needs an otherwise idle machine.
            """,
        subcommands: [MeasureAlone.self, CountOperations.self]
    )

    @Flag(help: "Fewer sizes and rounds: about a minute.")
    var quick = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Only jobs whose names have this prefix.", valueName: "job")
    )
    var only: [String] = []

    @Option(help: "Number of rounds; 5 by default, 2 with --quick.")
    var rounds: Int?

    @Flag(help: "List the jobs and exit.")
    var list = false

    @Option(help: ArgumentHelp("Write the results to a file, as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a report to a folder.", valueName: "folder"))
    var report: String?

    func validate() throws {
        if let rounds, rounds < 1 { throw ValidationError("At least one round is needed.") }
        for name in only where !Catalogue.names.contains(where: { $0.hasPrefix(name) }) {
            throw ValidationError("No job's name begins with '\(name)'; --list shows all.")
        }
    }

    func run() throws {
        if list { return print(Catalogue.text) }
        try prepareOutput()
        DescriptorLimit.raise()
        let session = Session(
            effort: Effort(isQuick: quick),
            rounds: rounds ?? (quick ? 2 : 5),
            isWanted: { name in only.isEmpty || only.contains { name.hasPrefix($0) } }
        )
        let findings = session.measure()
        Tables(results: findings.results).printAll()
        Growth(results: findings.results).print()
        Budget(findings: findings, isWhole: only.isEmpty).print()
        try write(findings.results)
    }

    /// Fails now, rather than after minutes, when the results cannot be written.
    private func prepareOutput() throws {
        if let json { try Data().write(to: URL(filePath: json)) }
        if let report {
            let folder = URL(filePath: report, directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    private func write(_ results: Results) throws {
        if let json { try ResultsFile.write(results, to: URL(filePath: json)) }
        if let report {
            try Report.write(results, to: report)
        }
    }

    static func main() { runAsScript() }
}

/// Does an operation some times, for somebody who counts the system calls.
struct CountOperations: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract:
            "Does one operation some times and no more, to count its system calls from outside."
    )

    @Argument(help: "Who does it: \(System.words).")
    var system: String

    @Argument(help: "What is done: \(Operation.allCases.map(\.rawValue).joined(separator: ", ")).")
    var operation: String

    @Argument(help: "How many times.")
    var count: Int

    func run() throws {
        let system = try System(word: system)
        guard let operation = Operation(rawValue: operation), operation.systems.contains(system)
        else {
            throw ValidationError("There is no operation '\(operation)' of \(system.rawValue).")
        }
        guard count > 0 else { throw ValidationError("At least one is needed.") }
        operation.run(count, by: system)
    }
}
