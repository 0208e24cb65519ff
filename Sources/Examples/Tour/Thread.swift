import Glibc

/// A POSIX thread that runs one closure.
///
/// It does not use run loops: a thread's loop is made by the first use of `UVRunLoop.current` and
/// torn down when the thread ends.
struct Thread {
    private let id: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        // C passes one pointer to the new thread, so the closure is boxed.
        let box = Unmanaged.passRetained(Box(body))
        var id = pthread_t()
        let failure = pthread_create(
            &id,
            nil,
            { pointer in
                if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
                return nil
            },
            box.toOpaque()
        )
        guard failure == 0 else { fail("cannot start a thread: \(reason(failure))") }
        self.id = id
    }

    /// Waits until the closure has returned and the thread has ended.
    func join() { pthread_join(id, nil) }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
