import BenchSupport
import Glibc

/// Processes that take all the processor time they can get.
struct BusyProcesses {
    private let all: [ChildProcess]

    init(count: Int) {
        all = (0..<count).map { _ in ChildProcess(arguments: ["--spin"]) }
        // Until they are under way.
        usleep(100_000)
    }

    /// The work of such a process, until it is killed or its parent is gone.
    static func spin() -> Never {
        let parent = getppid()
        while getppid() == parent {
            let end = now() + 100_000_000
            while now() < end {}
        }
        exit(0)
    }

    func end() { for process in all { process.end(by: SIGKILL) } }
}
