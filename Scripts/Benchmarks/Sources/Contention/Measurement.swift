import BenchSupport
import Glibc
import Synchronization
import UVRunLoop

/// Some threads that make one call for a while.
struct Measurement {
    /// How many calls a thread makes between two checks of the clock's flag.
    private static let batch = 16

    let call: Call
    let threads: Int
    /// In nanoseconds.
    let duration: Int64

    func run() -> Cost {
        let workload = call.setUp(threads)
        let shared = Shared(threads: threads)
        let workers = (0..<threads).map { index in
            start { Self.work(workload, index, shared) }
        }
        shared.ready.pass()
        let (processor, passed) = (processorTime(), now())
        shared.start.pass()
        sleep(until: passed + duration, orUntil: shared.isDone)
        shared.isOver.store(true, ordering: .relaxed)
        shared.end.pass()
        workload.finish()
        let cost = Cost(
            processor: Double(processorTime() - processor) / shared.count,
            passed: Double(now() - passed) / shared.count
        )
        workers.forEach { $0() }
        workload.cleanUp()
        return cost
    }

    private static func work(_ workload: Workload, _ index: Int, _ shared: Shared) {
        shared.ready.pass()
        shared.start.pass()
        var number = 0
        while number < workload.most, !shared.isOver.load(ordering: .relaxed) {
            let end = min(number + batch, workload.most)
            while number < end {
                workload.call(index, number)
                number += 1
            }
        }
        shared.add(number)
        shared.end.pass()
    }

    /// Starts a thread of the kind that the call needs; the result waits for its end.
    private func start(_ body: @escaping @Sendable () -> Void) -> () -> Void {
        guard call.needsLoopThreads else { return PosixThread(body).join }
        guard let thread = try? UVRunLoop.Thread(setUp: body) else { fail("No thread was left.") }
        return {
            thread.stop()
            thread.join()
        }
    }

    /// Sleeps for the measurement's time, or less when every thread has made all its calls.
    private func sleep(until date: Int64, orUntil isDone: () -> Bool) {
        while now() < date, !isDone() { usleep(1_000) }
    }

    /// The state that the threads of a measurement share.
    private final class Shared: Sendable {
        let ready: Gate
        let start: Gate
        let end: Gate
        let isOver = Atomic(false)
        private let threads: Int
        private let total = Atomic(0)
        private let finished = Atomic(0)

        init(threads: Int) {
            self.threads = threads
            ready = Gate(threads: threads + 1)
            start = Gate(threads: threads + 1)
            end = Gate(threads: threads + 1)
        }

        /// How many calls were made.
        var count: Double { Double(max(total.load(ordering: .acquiring), 1)) }

        func isDone() -> Bool { finished.load(ordering: .acquiring) == threads }

        func add(_ calls: Int) {
            total.add(calls, ordering: .releasing)
            finished.add(1, ordering: .releasing)
        }
    }
}
