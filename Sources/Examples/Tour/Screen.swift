import Glibc
import Synchronization

/// Standard output, for every thread: whole lines, one after the other.
enum Screen {
    private static let lock = Mutex<Void>(())

    private static let hasColours =
        isatty(STDOUT_FILENO) != 0 && getenv("NO_COLOR") == nil
        && getenv("TERM").map { String(cString: $0) } != "dumb"

    /// Prints one line; nothing is buffered, so it is seen at once and lines keep their order.
    static func line(_ text: String = "") {
        let bytes = Array((text + "\n").utf8)
        let failure = lock.withLock { _ in write(bytes[...], to: STDOUT_FILENO) }
        switch failure {
        case 0: return
        case EPIPE: _exit(1)  // Whoever was reading has left, as `head` does: no complaint.
        default: fail("cannot write to standard output: \(reason(failure))")
        }
    }

    static func bold(_ text: String) -> String { hasColours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    static func dim(_ text: String) -> String { hasColours ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
}

/// Says in one sentence why the program cannot go on, and ends it; any thread may call this.
func fail(_ sentence: String, status: CInt = 1) -> Never {
    _ = write(Array("Tour: \(sentence)\n".utf8)[...], to: STDERR_FILENO)
    _exit(status)
}
