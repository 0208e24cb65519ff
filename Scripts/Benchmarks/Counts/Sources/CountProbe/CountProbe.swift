import Glibc
import MallocCount
import UVRunLoop

/// Carries out one operation of the library's so often that others can count what it costs.
///
/// It makes three rounds: one of the given number of operations, to warm up, one that is counted,
/// and one of twice as many. What the second takes more than the first is the operations' own:
/// whatever a round costs once is in both. The program's own counts go to standard output, one a
/// line: what is counted, whose thread did it, in which round, and how often.
@main
struct CountProbe {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--list"] { return list() }
        guard let name = arguments.first,
            let operation = Operation.all.first(where: { $0.name == name }),
            let count = arguments.count == 1 ? operation.count : Int(arguments[1]),
            arguments.count <= 2, count > 0, count.isMultiple(of: operation.batch)
        else {
            let usage = "usage: CountProbe OPERATION [NUMBER], or CountProbe --list\n"
            _ = usage.withCString { write(2, $0, strlen($0)) }
            exit(2)
        }
        // An operation that waits for ever ends here, and with it its counts.
        alarm(120)
        // Not on the main thread, whose loop serves the main dispatch queue too.
        PosixThread { run(operation, count) }.join()
    }

    private static func list() {
        for operation in Operation.all {
            print(operation.name, operation.count, operation.title, separator: "\t")
        }
    }

    private static func run(_ operation: Operation, _ count: Int) {
        if operation.needsTime {
            count_stop_clocks_but_in_sleeps()
        } else {
            count_stop_clocks()
        }
        let rounds = operation.prepare(UVRunLoop.current)
        rounds(count, Round(size: .warmUp))
        rounds(count, Round(size: .single))
        rounds(2 * count, Round(size: .double))
        Round.printCounts()
    }
}
