import Glibc
import Synchronization

/// Writes a line of the program's story at once, so that a fork does not write it twice.
func tell(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

/// Ends the program if it hangs; whoever started it may have blocked the signal.
func endAfterAMinute() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGALRM)
    sigprocmask(SIG_UNBLOCK, &signals, nil)
    alarm(60)
}

/// Calls a function on a thread of its own, which is to be joined.
func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    let box = Unmanaged.passRetained(Body(call: body)).toOpaque()
    var thread = pthread_t()
    pthread_create(
        &thread,
        nil,
        { pointer in
            if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().call() }
            return nil
        },
        box
    )
    return thread
}

private final class Body: Sendable {
    let call: @Sendable () -> Void

    init(call: @escaping @Sendable () -> Void) { self.call = call }
}

/// Goes up once.
final class Flag: Sendable {
    private let state = Atomic(false)

    var isUp: Bool { state.load(ordering: .acquiring) }

    func raise() { state.store(true, ordering: .releasing) }
}
