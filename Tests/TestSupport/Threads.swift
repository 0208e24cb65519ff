import Glibc
import UVRunLoop

/// A thread that a test has started.
package struct RunningThread: Sendable {
    fileprivate let thread: pthread_t

    /// Waits until the thread is gone, the destructors of its keys included.
    package func join() { pthread_join(thread, nil) }

    /// Whether the caller runs on it.
    package var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    /// Has the system forget the thread when it ends.
    package func detach() { pthread_detach(thread) }
}

/// Starts a thread that does something and ends; the caller joins or detaches it.
package func startThread(_ action: @escaping @Sendable () -> Void) -> RunningThread {
    startUncheckedThread(action)
}

/// Starts a thread whose body need not be `Sendable`.
///
/// It is the test that sees to it that what the body uses is not used elsewhere meanwhile.
package func startUncheckedThread(_ action: @escaping () -> Void) -> RunningThread {
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
    return RunningThread(thread: thread)
}

private final class ThreadBody {
    let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }
}

/// Has another thread do something, and waits until that thread is gone.
package func onAnotherThread<Failure: Error>(
    _ action: @escaping @Sendable () throws(Failure) -> Void
) throws(Failure) {
    let failure = Guarded<Failure?>(nil)
    let thread = startThread {
        do throws(Failure) {
            try action()
        } catch {
            failure.withLock { $0 = error }
        }
    }
    thread.join()
    if let failure = failure.withLock({ $0 }) { throw failure }
}

/// Starts a thread with a loop, also from a task; the call waits for the thread's loop.
package func startLoopThread() throws -> UVRunLoop.Thread {
    try UVRunLoop.Thread(name: "loop of a test")
}
