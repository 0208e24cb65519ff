import Glibc

@testable import UVRunLoop

/// Whether the tests run under the thread sanitizer, which has rules of its own for forked children.
#if THREAD_SANITIZER
let isUnderThreadSanitizer = true
#else
let isUnderThreadSanitizer = false
#endif

/// A thread that a test waits for.
struct RunningThread {
    fileprivate let thread: pthread_t

    func join() { pthread_join(thread, nil) }
}

private final class ThreadBody {
    let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }
}

/// Runs a body on a thread of its own.
///
/// It is the test that sees to it that what the body uses is not used elsewhere meanwhile.
func runThread(_ action: @escaping () -> Void) -> RunningThread {
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

/// Reads from a peer on a thread of its own: so many bytes, or to the end.
struct Reader {
    private let thread: RunningThread

    init(_ peer: Peer, count: Int?, _ body: @escaping ([UInt8]) -> Void) {
        thread = runThread {
            var all: [UInt8] = []
            while all.count < count ?? .max, let bytes = peer.read(), !bytes.isEmpty {
                all += bytes
            }
            body(all)
        }
    }

    func join() { thread.join() }
}
