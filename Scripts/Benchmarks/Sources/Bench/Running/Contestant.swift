import BenchSupport
import Glibc
import Results

/// A process in which one system does one job, round by round.
///
/// In one process, a system would be measured with the memory and the threads that the others left
/// behind: after CFRunLoop, SwiftNIO and Dispatch had made and freed ten thousand timers each, the
/// allocator took three times as long for a timer of this library.
struct Contestant {
    let system: System
    /// The largest size that ends in bearable time.
    let largest: Int
    private let process: ChildProcess
    /// This end of the connection, over which sizes are sent and answers read.
    private let connection: UnsafeMutablePointer<FILE>

    init(_ contender: Contender, in job: Job, _ effort: Effort) {
        system = contender.system
        largest = contender.largest
        let ends = Self.connectedSockets()
        guard let connection = fdopen(ends[0], "r") else {
            fail("a socket could not be read as a file.")
        }
        self.connection = connection
        let words = (effort.isQuick ? ["--quick"] : []) + ["measure", job.name, system.word]
        process = ChildProcess(arguments: words, talkingOver: ends[1])
        close(ends[1])
    }

    /// Two sockets that are no standard descriptors, even if one of those is closed.
    private static func connectedSockets() -> [CInt] {
        var ends: [CInt] = [-1, -1]
        socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        let moved = ends.map { fcntl($0, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
        for end in ends { close(end) }
        guard moved.allSatisfy({ $0 >= 0 }) else {
            fail("no socket could be made for another process.")
        }
        return moved
    }

    /// Has the system do the job once; returns a sample for each row.
    func measure(_ size: Int) -> [Double] {
        let question = "\(size)\n"
        send(fileno(connection), question, question.utf8.count, CInt(MSG_NOSIGNAL))
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        let length = getline(&line, &capacity, connection)
        guard length > 0, let line, line[length - 1] == CChar(UInt8(ascii: "\n")) else {
            fail("the process that measured \(system.rawValue) has ended.")
        }
        return String(cString: line).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    }

    /// Ends the process.
    func end() {
        fclose(connection)
        if !process.wait() { fail("the process that measured \(system.rawValue) has failed.") }
    }
}
