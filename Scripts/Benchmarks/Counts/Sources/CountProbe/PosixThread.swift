import Glibc

/// A plain thread.
struct PosixThread {
    private let id: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var id = pthread_t()
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let status = pthread_create(
            &id,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            box
        )
        guard status == 0 else { fatalError("No thread could be started.") }
        self.id = id
    }

    func join() { pthread_join(id, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
