import UVRunLoop

/// A mutable value behind a reference.
package final class Box<Value> {
    package var value: Value

    package init(_ value: Value) { self.value = value }
}

/// A mutable value behind a reference, for several threads.
package final class SharedBox<Value: Sendable>: Sendable {
    private let content: Guarded<Value>

    package init(_ value: Value) { content = Guarded(value) }

    package var value: Value {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

/// Carries a pointer to another thread.
package struct Unchecked<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
