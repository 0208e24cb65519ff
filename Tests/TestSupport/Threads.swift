import Glibc

/// Has another thread do something, and waits for it.
package func onAnotherThread(_ action: @escaping @Sendable () -> Void) {
    pthread_join(startThread(action), nil)
}

private final class ThreadBody: Sendable {
    let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
}

/// Starts a thread that does something and ends; the caller joins or detaches it.
package func startThread(_ action: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let body = Unmanaged.passRetained(ThreadBody(action)).toOpaque()
    let status = pthread_create(
        &thread,
        nil,
        { body in
            if let body { Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().action() }
            return nil
        },
        body
    )
    precondition(status == 0, "No thread could be started.")
    return thread
}
