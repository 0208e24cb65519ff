import BenchSupport

/// Counts what was handled, and says when everything was.
///
/// Only the thread that handles touches it, which is why it needs no lock.
final class Tally: @unchecked Sendable {
    private(set) var left: Int
    private(set) var sum = 0
    private let whenDone: () -> Void

    init(_ count: Int, whenDone: @escaping () -> Void) {
        left = count
        self.whenDone = whenDone
    }

    /// Counts one, and adds up the numbers of all, by which a lost or doubled one is found.
    func add(_ number: Int = 0) {
        sum &+= number
        left -= 1
        if left == 0 { whenDone() }
    }

    /// Fails unless everything from 0 up was counted once.
    func check(_ count: Int) {
        guard left == 0, sum == count * (count - 1) / 2 else {
            fail("\(count) were handed over, and not every one was handled once.")
        }
    }
}
