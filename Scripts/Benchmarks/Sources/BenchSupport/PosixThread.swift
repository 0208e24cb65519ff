import Glibc

/// A thread of the system's, the same for everything that is measured.
package struct PosixThread: Sendable {
    private let id: pthread_t

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - stackSize: The bytes of its stack; `nil` for the system's default.
    ///   - body: The work.
    package init(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        var id = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let status = pthread_create(
            &id,
            &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            box
        )
        guard status == 0 else {
            fail("no thread could be started: \(String(cString: strerror(status)))")
        }
        self.id = id
    }

    /// Waits until the thread has ended.
    package func join() { pthread_join(id, nil) }

    /// Carries a closure through a pointer.
    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

/// Runs a body on a thread that is started for it, and returns its result.
///
/// Everything that the body adds to the thread's run loop is gone when the thread has ended.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let slot = Slot<Value>()
    PosixThread { slot.value = body() }.join()
    guard let value = slot.value else { fail("a thread ended without a result.") }
    return value
}

/// Holds a thread's result, which is read after the thread is joined.
private final class Slot<Value>: @unchecked Sendable { var value: Value? }
