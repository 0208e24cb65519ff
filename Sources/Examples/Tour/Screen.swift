import Glibc
import Synchronization

/// Standard output, shared by all threads, one whole line at a time.
enum Screen {
    private static let lock = Mutex<Void>(())

    private static let hasColours =
        isatty(STDOUT_FILENO) != 0 && getenv("NO_COLOR") == nil
        && getenv("TERM").map { String(cString: $0) } != "dumb"

    /// Prints one line, unbuffered, so that lines appear at once and in order.
    static func line(_ text: String = "") {
        let bytes = Array((text + "\n").utf8)
        let failure = lock.withLock { _ in write(bytes[...], to: STDOUT_FILENO) }
        switch failure {
        case 0: return
        case EPIPE: _exit(1)  // The reader has closed the pipe, as `head` does.
        default: fail("cannot write to standard output: \(reason(failure))")
        }
    }

    static func bold(_ text: String) -> String { hasColours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    static func dim(_ text: String) -> String { hasColours ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}

/// Prints why the program cannot go on, and ends it.
///
/// Any thread may call this.
func fail(_ sentence: String, status: CInt = 1) -> Never {
    _ = write(Array("Tour: \(sentence)\n".utf8)[...], to: STDERR_FILENO)
    _exit(status)
}
