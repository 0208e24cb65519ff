import Glibc

/// Text for people, past all buffers, so that none of it is lost when the process ends at once.
enum Output {
    static func say(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    static func complain(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    static let isWatched = isatty(STDERR_FILENO) == 1

    /// Puts a line where the last one was; an empty one leaves nothing there.
    static func showProgress(_ line: String) {
        if isWatched { write("\r\u{1B}[K\(line.prefix(100))", to: STDERR_FILENO) }
    }

    private static func write(_ text: String, to descriptor: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
