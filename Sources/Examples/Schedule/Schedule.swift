import Glibc
import UVRunLoop
import UVRunLoopSystem

/// The commands of a file, each run at the dates of its line.
///
/// All of it happens on the thread of one loop, so it needs no lock.
final class Schedule {
    private let loop: UVRunLoop
    private let path: String
    private var timers: [UVRunLoop.WallTimer] = []
    /// What reads the file again; until the end.
    var hangUp: UVRunLoop.SignalSource?

    init(_ path: String, on loop: UVRunLoop) {
        self.path = path
        self.loop = loop
    }

    /// Reads the file; keeps the present commands if that fails, or there are none in it.
    func load() {
        do {
            let timers = try lines(of: path).map { try timer(for: $0) }
            guard !timers.isEmpty else { throw CronExpression.Misuse(description: "no commands") }
            for timer in self.timers { timer.invalidate() }
            self.timers = timers
            for timer in timers { loop.add(timer, forMode: .default) }
            say("Schedule: \(timers.count) commands from \(path)")
        } catch {
            say("Schedule: \(path): \(error)", to: STDERR_FILENO)
        }
    }

    var isEmpty: Bool { timers.isEmpty }

    private func lines(of path: String) throws -> [String] {
        guard let file = fopen(path, "re") else {
            throw CronExpression.Misuse(description: String(cString: strerror(errno)))
        }
        defer { fclose(file) }
        var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            text += buffer[..<count]
        }
        guard ferror(file) == 0 else {
            throw CronExpression.Misuse(description: String(cString: strerror(errno)))
        }
        return String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map(String.init)
            .filter { !$0.hasPrefix("#") }
    }

    /// The timer of a line: six fields and a command for the shell.
    private func timer(for line: String) throws -> UVRunLoop.WallTimer {
        let words = line.split(separator: " ", maxSplits: 6)
        let expression: CronExpression
        do {
            expression = try CronExpression(words.prefix(6))
        } catch {
            throw CronExpression.Misuse(description: "\(line): \(error)")
        }
        guard words.count == 7, let date = Self.next(expression) else {
            throw CronExpression.Misuse(description: "\(line) has no command, or no date")
        }
        let command = String(words[6])
        return try UVRunLoop.WallTimer(at: date) { [unowned self] timer, event in
            // A clock that was set has other dates; the one that was set before may be far away.
            if event == .reached { run(command) }
            if let date = Self.next(expression) { timer.date = date }
        }
    }

    private static func next(_ expression: CronExpression) -> UVRunLoop.WallDate? {
        let now = UVRunLoop.WallDate.now.sinceEpoch.components.seconds
        return expression.next(after: time_t(now))
            .map { UVRunLoop.WallDate(sinceEpoch: .seconds(Int64($0))) }
    }

    private func run(_ command: String) {
        do {
            let child = try UVRunLoop.ChildProcess(
                .init("/bin/sh", ["-c", command], output: .inherited)
            ) { _, event in
                if case .exited(let status) = event { say("Schedule: \(command): \(status)") }
            }
            loop.add(child, forMode: .default)
        } catch {
            say("Schedule: \(command): \(error)", to: STDERR_FILENO)
        }
    }

    /// Starts nothing more; what runs keeps the loop running until it ends.
    func end() {
        hangUp?.invalidate()
        for timer in timers { timer.invalidate() }
    }
}

/// Writes a line at once, also to a pipe; ends the program if nobody can read what it is for.
func say(_ line: String, to descriptor: CInt = STDOUT_FILENO) {
    let bytes = Array((line + "\n").utf8)
    guard write(descriptor, bytes, bytes.count) >= 0 || descriptor == STDERR_FILENO else {
        perror("Schedule")
        exit(1)
    }
}
