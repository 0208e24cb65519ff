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
    private let socket: CInt
    private let answers: UnsafeMutablePointer<FILE>

    init(_ contender: Contender, in job: Job, _ effort: Effort) {
        system = contender.system
        largest = contender.largest
        var ends: [CInt] = [0, 0]
        let isConnected =
            socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
        guard isConnected, let answers = fdopen(ends[0], "r") else {
            fail("no socket could be made for another process.")
        }
        (socket, self.answers) = (ends[0], answers)
        let words = ["measure", job.name, system.word] + (effort.isQuick ? ["--quick"] : [])
        process = ChildProcess(arguments: words, talkingOver: ends[1])
        close(ends[1])
    }

    /// Has the system do the job once; returns a sample for each row.
    func measure(_ size: Int) -> [Double] {
        let question = "\(size)\n"
        send(socket, question, question.utf8.count, CInt(MSG_NOSIGNAL))
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        guard getline(&line, &capacity, answers) > 0, let line else {
            fail("the process that measured \(system.rawValue) has ended.")
        }
        return String(cString: line).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    }

    /// Ends the process.
    func end() {
        fclose(answers)
        process.wait()
    }
}
