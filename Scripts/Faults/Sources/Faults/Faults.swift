import Glibc
import Injection

/// Has the library meet with what the system rarely does: calls that fail, and forks while other
/// threads are busy.
@main
struct Faults {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Each line comes at once, and children have nothing to repeat.
        work_print_lines()
        work_run_without_backtraces()
        work_make_directory()
        let isGood =
            switch (arguments.first, arguments.count) {
            case ("forks", 2): Int(arguments[1]).map { Forks.run(count: $0) }
            case ("sweep", 2...3):
                Int(arguments[1]).map {
                    Sweep.run(stride: max(1, $0), of: arguments.dropFirst(2).last)
                }
            case ("time", 2): Int(arguments[1]).map { Corner.run(scale: max(1, $0)) }
            case ("corner", 2): Corner.run(scale: 1, only: arguments[1])
            case ("only", 2): Fault(arguments[1]).map { Sweep.run(only: $0) }
            default: Bool?.none
            }
        work_remove_directory()
        guard let isGood else {
            print(
                "usage: Faults forks COUNT | sweep STRIDE [OPERATIONS] | only FAULT | time SCALE | corner NAME"
            )
            exit(2)
        }
        exit(isGood ? 0 : 1)
    }
}
