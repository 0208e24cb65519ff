import Synchronization

/// The log of a listing, in order; any thread may append to it.
final class Log: Sendable {
    private let noted = Mutex<[String]>([])
    private let isPrinted: Bool

    /// - Parameter isPrinted: Whether each line is also printed as it is logged.
    init(isPrinted: Bool = false) { self.isPrinted = isPrinted }

    var lines: [String] { noted.withLock { $0 } }

    func note(_ line: String) {
        noted.withLock { noted in
            noted.append(line)
            if isPrinted { print("  " + line) }
        }
    }
}
