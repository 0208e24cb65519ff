import BenchSupport
import ArgumentParser

/// Measures what calls cost that several threads make at the same time.
@main
struct Contention: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench-contention",
        abstract: "Measures calls that 1, 2, 4 and 8 threads make on one object.",
        discussion: """
            For each call it prints the CPU time of the whole process and the wall time, divided \
            by the number of completed calls, alone and together with two busy processes, and \
            the same for CFRunLoop where it has the call. The cost of queued work on the loop's \
            thread is included. CPU time is the median of the rounds; wall time is the lowest, \
            because other processes only add to it.

            UVRunLoop's figures with the most threads are compared with its own with one thread: \
            CPU time may be 3 times as much, wall time must not exceed it, with a tolerance of a \
            tenth. One-thread figures below 20 ns count as 20 ns.
            """
    )

    @Flag(help: "1 and 8 threads and shorter measurements: about half a minute.")
    var quick = false

    @Flag(help: "Exit with status 1 when a bound is exceeded.")
    var check = false

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Only calls whose names have this prefix.", valueName: "call")
    )
    var only: [String] = []

    @Option(help: "Number of rounds; 5 by default, 3 with --quick.")
    var rounds: Int?

    @Flag(help: "Leave out the measurement with two busy processes.")
    var alone = false

    @Flag(help: "Leave out CFRunLoop and the references.")
    var withoutPeers = false

    @Flag(help: "List the calls and exit.")
    var list = false

    @Flag(help: "Measure the memory of a million mode names instead.")
    var names = false

    @Flag(help: .hidden)
    var spin = false

    func validate() throws {
        if let rounds, rounds < 1 { throw ValidationError("At least one round is needed.") }
        for name in only where !Call.all.contains(where: { $0.name.hasPrefix(name) }) {
            throw ValidationError("No call's name begins with '\(name)'; --list shows all.")
        }
    }

    func run() throws {
        if spin { BusyProcesses.spin() }
        if list { return print(Call.all.map(\.name).joined(separator: "\n")) }
        if names { return NameMemory.measure() }
        let calls = Call.all.filter { call in
            (only.isEmpty || only.contains { call.name.hasPrefix($0) })
                && !(withoutPeers && call.isPeers)
        }
        let session = Session(
            calls: calls,
            threads: quick ? [1, 8] : [1, 2, 4, 8],
            rounds: rounds ?? (quick ? 3 : 5),
            duration: quick ? 50_000_000 : 150_000_000
        )
        var isOver = session.measure("alone")
        if !alone {
            let busy = BusyProcesses(count: 2)
            if session.measure("beside two busy processes") { isOver = true }
            busy.end()
        }
        if check, isOver { throw ExitCode(1) }
    }

    static func main() { runAsScript() }
}
