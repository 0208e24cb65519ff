import BenchSupport
import Glibc
import Synchronization

/// Does something again and again on another thread, so slowly that the loop sleeps in between.
///
/// It waits until one was handled before the next, because several signals may be handled as one.
/// Its pauses are not among the system calls that are counted.
final class PacedSender: Sendable {
    private let tally: Tally
    private let handled = Atomic<Int>(0)

    init(_ tally: Tally) { self.tally = tally }

    func start(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        _ = PosixThread { [self] in
            for number in 0..<count {
                repeat { usleep(Operation.pause) } while handled.load(ordering: .acquiring) < number
                body()
            }
        }
    }

    /// To be called by what handles one.
    func noteHandled() {
        handled.add(1, ordering: .releasing)
        tally.add()
    }
}
