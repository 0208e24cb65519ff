import Glibc
import Synchronization
import TestSupport
import UVRunLoop

/// Turns what does not end into a failure that names its program.
///
/// A loop that outlives the patience is stopped, so that the difference can be shrunk; a process
/// that does not come to an end even then prints the program and exits.
package final class Watchdog: Sendable {
    package static let shared = Watchdog()

    /// Seconds until a loop is stopped, and until the process is given up.
    private static let patience: Int64 = 5
    private static let lastPatience: Int64 = 15
    private static let second: Int64 = 1_000_000_000

    /// The report when the process is given up: the program, and how it came about.
    package let sayWhy = Guarded<@Sendable (Program) -> Void> { print(SwiftText.test(of: $0)) }

    private struct Charge {
        let library: Library
        let start: Int64
    }

    private let charge = Guarded<[Int: Charge]>([:])
    private let nextNumber = Atomic<Int>(0)

    private init() {
        let thread = startThread { [self] in
            while true {
                usleep(200_000)
                check()
            }
        }
        thread.detach()
    }

    struct Watch {
        let finish: () -> Void
    }

    func watch(_ library: Library) -> Watch {
        let number = nextNumber.add(1, ordering: .relaxed).newValue
        charge.withLock { $0[number] = Charge(library: library, start: monotonicNow()) }
        return Watch { [charge = self] in charge.charge.withLock { $0[number] = nil } }
    }

    private func check() {
        for charge in charge.withLock({ Array($0.values) }) {
            let age = (monotonicNow() - charge.start) / Self.second
            if age >= Self.patience {
                charge.library.ending.note(.hung)
                charge.library.loop.stop()
            }
            if age >= Self.lastPatience {
                print("A program did not end, and its loop could not be stopped:")
                let tell = sayWhy.withLock { $0 }
                tell(charge.library.performance.program)
                fflush(nil)
                _exit(3)
            }
        }
    }
}
