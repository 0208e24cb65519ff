import Synchronization

/// A number that threads share.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add(_ number: Int = 1) { count.add(number, ordering: .acquiringAndReleasing) }
}

/// A value that threads share.
final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    var current: Value { value.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) { value.withLock { value in body(&value) } }
}
