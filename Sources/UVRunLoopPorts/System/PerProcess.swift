import Synchronization

/// A value that each process makes for itself when it first asks for it.
///
/// A forked child would inherit locks as other threads of its parent held them, so it makes a value
/// of its own, and never touches its parent's. There is one link for each process of the line of
/// forks that has asked; finding the present one takes no lock.
final class PerProcess<Value: Sendable>: Sendable {
    // Not private: Swift 6.3 cannot link a private type of a generic one.
    final class Link: Sendable {
        let process = Process.id
        let value: Value
        let next = AtomicLazyReference<Link>()

        init(_ value: Value) { self.value = value }
    }

    private let first = AtomicLazyReference<Link>()
    private let make: @Sendable () -> Value

    init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    var current: Value {
        let process = Process.id
        var link = first.load() ?? first.storeIfNil(Link(make()))
        while link.process != process {
            link = link.next.load() ?? link.next.storeIfNil(Link(make()))
        }
        return link.value
    }
}
