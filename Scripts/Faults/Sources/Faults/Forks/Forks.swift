import Glibc
import Injection
import UVRunLoop

/// Forks a process whose threads are busy with the library, again and again.
///
/// Each child uses everything that the library has, on the thread that was forked and on a new
/// one.
enum Forks {
    /// How many children there are at a time.
    private static let batch = 4
    /// For how long the parent's threads are busy before a fork, in microseconds.
    private static let busyTime = 300
    /// When the watchdog ends a child, in milliseconds.
    private static let patience = 30_000

    /// - Returns: Whether every child did its work.
    static func run(count: Int) -> Bool {
        warmUp()
        let threads: BusyThreads
        do {
            threads = try BusyThreads()
        } catch {
            print("forks: the busy threads could not be started: \(error)")
            return false
        }
        var tally = ForkTally()
        // Both a process's first thread and another one fork.
        let half = count / 2
        forkChildren(half, threads, &tally)
        let other = Shared(tally)
        PlainThread {
            var tally = other.current
            forkChildren(count - half, threads, &tally)
            let result = tally
            other.change { $0 = result }
        }.join()
        let rounds = threads.rounds.map(\.value)
        threads.end()
        other.current.report(rounds)
        return other.current.bad.isEmpty && rounds.allSatisfy { $0 > 0 }
    }

    /// Does everything that the busy threads and the children do, so that what the Swift runtime
    /// makes once is there: it is not the library's if a fork finds that half made.
    private static func warmUp() {
        for _ in 0..<2 {
            work("warm-up")
            PlainThread { work("warm-up") }.join()
        }
        if let threads = try? BusyThreads() {
            threads.setWorking(true)
            while threads.rounds.contains(where: { $0.value < 3 }) { work_sleep(1_000) }
            threads.end()
        }
    }

    private static func forkChildren(
        _ count: Int,
        _ threads: BusyThreads,
        _ tally: inout ForkTally
    ) {
        var left = count
        while left > 0 {
            threads.setWorking(true)
            var children: [pid_t] = []
            for slot in 0..<min(batch, left) {
                work_sleep(Int.random(in: 0...(2 * busyTime)))
                // Each begins with another operation, so that the first bad one hides no other.
                var first = (left - slot) % Operation.all.count
                children.append(child_start(CInt(slot), patience, workInChild, &first))
            }
            threads.setWorking(false)
            for (slot, process) in children.enumerated() {
                tally.note(child_wait(CInt(slot), process))
            }
            left -= children.count
        }
    }

    private static let workInChild: child_body = { first in
        let first = first?.assumingMemoryBound(to: Int.self).pointee ?? 0
        Forks.work("child", first: first)
    }

    /// Uses everything, on the calling thread and on another one.
    private static func work(_ prefix: String, first: Int = 0) {
        perform(prefix, first, "forked thread")
        PlainThread { perform(prefix, first, "new thread") }.join()
    }

    private static func perform(_ prefix: String, _ first: Int, _ place: String) {
        for operation in Operation.all[first...] + Operation.all[..<first] {
            child_note_step("\(operation.name), \(place)")
            let scene = Scene(
                limit: .seconds(10),
                name: "\(prefix)-\(getpid())-\(operation.name)-\(place)"
            )
            let outcome = operation.perform(scene)
            if case .done = outcome { continue }
            child_note_problem("\(operation.name), \(place): \(outcome)")
            if prefix == "warm-up" { print("forks: \(operation.name), \(place): \(outcome)") }
            if prefix == "child" { child_exit(1) }
        }
    }
}

/// How many children did what.
struct ForkTally: Sendable {
    private var count = 0
    private(set) var bad: [String: Int] = [:]

    mutating func note(_ end: child_end) {
        count += 1
        if end.signal == 0, end.status == 0 { return }
        let step = text(end.step)
        let how =
            switch end.signal {
            case 0: "said: \(text(end.problem))"
            case SIGALRM: "hung in \(step)"
            default: "died by signal \(end.signal) in \(step)"
            }
        bad[how, default: 0] += 1
    }

    func report(_ rounds: [Int]) {
        print("forks: \(count) children of a parent with \(rounds.count) busy threads")
        print(
            "forks: rounds of the busy threads: \(rounds.map(String.init).joined(separator: " "))"
        )
        for (how, number) in bad.sorted(by: { $0.value > $1.value }) { print("  \(number) \(how)") }
        print("forks: \(bad.values.reduce(0, +)) children failed")
    }
}

/// The text in an array of C's.
func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
