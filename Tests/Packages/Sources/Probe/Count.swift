import Synchronization

/// A count that several threads share.
final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock(\.self) }

    func add(_ number: Int = 1) { count.withLock { $0 += number } }
}
