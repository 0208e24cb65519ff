import MallocCount
import Synchronization

/// One round of operations, and the parts of it that are counted.
struct Round: Sendable {
    enum Size: String {
        /// Nothing is counted: whatever is made on first use, or grows to its size, does so here.
        case warmUp
        case single
        case double
    }

    let size: Size

    /// Counts what the loop's thread does in a body.
    func loop(_ body: () -> Void) {
        switch size {
        case .warmUp: body()
        case .single: call(body, through: count_loop_single)
        case .double: call(body, through: count_loop_double)
        }
    }

    /// Counts what the thread that asks something of the loop's does in a body.
    func sender(_ body: () -> Void) {
        switch size {
        case .warmUp: body()
        case .single: call(body, through: count_sender_single)
        case .double: call(body, through: count_sender_double)
        }
    }

    private func call(
        _ body: () -> Void,
        through count: (count_body?, UnsafeMutableRawPointer?) -> Void
    ) {
        withoutActuallyEscaping(body) { body in
            var body = body
            withUnsafeMutablePointer(to: &body) { body in
                count({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, body)
            }
        }
    }

    // MARK: Counts

    private static let notes = Mutex<[String]>([])

    /// Takes down what an operation has counted itself.
    func note(_ measure: String, _ number: Int) {
        guard size != .warmUp else { return }
        Self.notes.withLock { $0.append("\(measure) loop \(size.rawValue) \(number)") }
    }

    /// Prints what was counted, but for what strace and callgrind count.
    static func printCounts() {
        let parts = [
            (COUNT_LOOP_SINGLE, "loop single"), (COUNT_LOOP_DOUBLE, "loop double"),
            (COUNT_SENDER_SINGLE, "sender single"), (COUNT_SENDER_DOUBLE, "sender double"),
        ]
        for (part, name) in parts {
            print("allocations", name, count_allocations(part))
            print("clock-reads", name, count_clock_reads(part))
            print("pool-jobs", name, count_pool_jobs(part))
        }
        for note in notes.withLock({ $0 }) { print(note) }
    }
}
