import Glibc
import Injection

/// Has the library meet with what the system rarely does: forks while other threads are busy.
@main
struct Faults {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Each line comes at once, and children have nothing to repeat.
        work_print_lines()
        work_make_directory()
        let isGood =
            switch (arguments.first, arguments.count) {
            case ("forks", 2): Int(arguments[1]).map { Forks.run(count: $0) }
            default: Bool?.none
            }
        work_remove_directory()
        guard let isGood else {
            print("usage: Faults forks COUNT")
            exit(2)
        }
        exit(isGood ? 0 : 1)
    }
}
