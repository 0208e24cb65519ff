import Glibc

/// Starts a thread; the caller joins it.
func startThread(_ action: @escaping @Sendable () -> Void) -> pthread_t {
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

private final class ThreadBody: Sendable {
    let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
}
