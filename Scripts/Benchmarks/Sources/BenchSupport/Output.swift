import Glibc
import Synchronization

/// Text for people, past all buffers, so that none of it is lost when the process ends at once.
package enum Output {
    /// Whether something could not be written to standard output.
    package static var isIncomplete: Bool { lost.load(ordering: .relaxed) }

    private static let lost = Atomic<Bool>(false)

    /// Writes a line to standard output.
    package static func say(_ text: String) {
        if !write(text + "\n", to: STDOUT_FILENO) { lost.store(true, ordering: .relaxed) }
    }

    /// Writes a line to standard error.
    package static func complain(_ text: String) { _ = write(text + "\n", to: STDERR_FILENO) }

    /// Whether standard error is a terminal.
    package static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Replaces the last line of the terminal; an empty one leaves nothing there.
    package static func showProgress(_ line: String) {
        if isTerminal { _ = write("\r\u{1B}[K\(line.prefix(100))", to: STDERR_FILENO) }
    }

    private static func write(_ text: String, to descriptor: CInt) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return false }
            rest = rest.dropFirst(max(0, count))
        }
        return true
    }
}

/// Ends the program with a sentence, because a benchmark that goes on after an error measures
/// nonsense.
package func fail(_ sentence: String) -> Never {
    Output.complain("error: \(sentence)")
    exit(1)
}
