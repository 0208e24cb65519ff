import Glibc

/// A thread of the system's, without a loop until it asks for one.
struct PosixThread {
    private let handle: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var handle = pthread_t()
        let argument = Unmanaged.passRetained(Body(body)).toOpaque()
        let status = pthread_create(
            &handle,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            argument
        )
        demand(status == 0, "the system to start a thread", "error \(status)")
        self.handle = handle
    }

    func join() { pthread_join(handle, nil) }

    /// Carries a closure through a pointer.
    private final class Body: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
