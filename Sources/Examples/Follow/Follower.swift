import Glibc
import UVRunLoop

/// Reads what is appended to a file, line by line.
///
/// All of it happens on the thread of one loop, so it needs no lock.
final class Follower {
    private let path: String
    private let loop: UVRunLoop
    private let interval: Duration
    private let take: (String) -> Void
    private var timer: UVRunLoop.Timer?
    private var file: CInt = -1
    private var offset = 0
    /// A line that has begun.
    private var line: [UInt8] = []

    /// Makes a follower of a file, which need not exist yet.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - loop: The calling thread's loop.
    ///   - interval: How often to check the file, if nothing tells of a change.
    ///   - take: Called with each line.
    init(
        _ path: String,
        on loop: UVRunLoop,
        every interval: Duration,
        take: @escaping (String) -> Void
    ) {
        self.path = path
        self.loop = loop
        self.interval = interval
        self.take = take
    }

    deinit { if file >= 0 { close(file) } }

    /// Begins at the end of the file.
    func start() {
        openFile()
        if let status = Self.status({ fstat(file, $0) }) { offset = Int(status.st_size) }
        let timer = UVRunLoop.Timer(after: interval, interval: interval) { [unowned self] _ in
            readOn()
        }
        loop.add(timer, forMode: .default)
        self.timer = timer
    }

    func end() { timer?.invalidate() }

    /// Reads what is new.
    func readOn() {
        readToTheEnd()
        guard hasBeenReplaced else { return }
        openFile()
        readToTheEnd()
    }

    private func readToTheEnd() {
        guard let status = Self.status({ fstat(file, $0) }) else { return }
        // Somebody has emptied it.
        if Int(status.st_size) < offset { startOver() }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = pread(file, &buffer, buffer.count, off_t(offset)), count > 0 {
            offset += count
            divide(buffer[..<count])
        }
    }

    private func divide(_ bytes: ArraySlice<UInt8>) {
        // Only what is new is searched: a line may be longer than all the rest.
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            line += rest[..<end]
            take(String(decoding: line, as: UTF8.self))
            line = []
            rest = rest[(end + 1)...]
        }
        line += rest
    }

    // MARK: The file

    /// Whether the path is that of something which has no lines.
    static func isFolder(_ path: String) -> Bool {
        status { stat(path, $0) }.map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// Whether the path is that of another file now.
    private var hasBeenReplaced: Bool {
        guard let named = Self.status({ stat(path, $0) }) else { return false }
        guard let own = Self.status({ fstat(file, $0) }) else { return true }
        return named.st_ino != own.st_ino || named.st_dev != own.st_dev
    }

    private func openFile() {
        if file >= 0 { close(file) }
        file = open(path, O_RDONLY | O_CLOEXEC)
        startOver()
    }

    private func startOver() {
        offset = 0
        line = []
    }

    private static func status(_ call: (UnsafeMutablePointer<stat>) -> CInt) -> stat? {
        var status = stat()
        return call(&status) == 0 ? status : nil
    }
}

/// Writes a line at once, also to a pipe; ends the program if nobody can read what it is for.
func say(_ line: String, to descriptor: CInt = STDOUT_FILENO) {
    let bytes = Array((line + "\n").utf8)
    guard write(descriptor, bytes, bytes.count) >= 0 || descriptor == STDERR_FILENO else {
        perror("Follow")
        exit(1)
    }
}
