import Glibc
import UVRunLoop

/// Runs a body in a process of its own, whose one running thread lets every signal through.
///
/// The threads that run tests let none through. The body has a thread of its own, because the Swift
/// runtime caches thread IDs: in a forked child, its locks do not know the thread that forked, and
/// spin for ever when that one meets another.
func withAllSignals(_ body: @escaping @Sendable () -> Void) {
    inQuietProcess {
        startThread {
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            body()
        }
        .join()
    }
}

/// A source that notes what it is told.
func noteSignal(
    _ signal: CInt,
    _ log: EventLog,
    as name: String = "signal"
) -> UVRunLoop.SignalSource {
    let source = try? UVRunLoop.SignalSource(
        signal,
        sendableHandler: { _, count in log.note("\(name) \(count)") }
    )
    guard let source else { preconditionFailure("The signal can be waited for.") }
    return source
}

/// Serves one source of the default mode.
func serveOne(_ loop: UVRunLoop) -> UVRunLoop.RunResult {
    loop.run(mode: .default, for: .seconds(60), returnAfterSourceHandled: true)
}
