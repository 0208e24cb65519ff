import Glibc
import Injection

/// An operation in a process of its own, with a fault, and then twice more without it: on the same
/// thread, whose loop has met the fault and ends under it later, and on another one.
///
/// Without the fault all has to go well, and nothing may be left over at the end: no descriptor and
/// no thread more than where nothing has failed.
struct Trial: Sendable {
    let operation: Operation
    /// The call that fails; `nil` for a trial that only counts.
    let fault: Fault?
    /// For how long the operation waits for what it has asked for.
    let limit: Duration
    /// How many threads are left where nothing fails: the main one, and those of libuv's pool.
    var threads = 1

    /// The results that a trial reports.
    struct Findings: Sendable {
        /// How often each function was called while the fault was on.
        var calls: [Int]
        var hits = 0
        var descriptors = 0
        /// How many threads are left, the main one included.
        var threads = 0
        /// How it went with the fault: ``Outcome``, as a number.
        var outcome = 0
    }

    private static let slotsOfCalls = 88
    static let codes = (done: 0, refused: 1, missing: 2)

    /// Begins it in a child; the slot is the child's.
    func start(slot: Int) -> pid_t {
        let milliseconds = Int(limit / .milliseconds(1)) * 12 + 1_500
        let box = Unmanaged.passRetained(Box(self))
        defer { box.release() }
        return child_start(
            CInt(slot),
            milliseconds,
            { context in
                guard let context else { return }
                Unmanaged<Box>.fromOpaque(context).takeUnretainedValue().trial.carryOut()
            },
            box.toOpaque()
        )
    }

    private final class Box: Sendable {
        let trial: Trial

        init(_ trial: Trial) { self.trial = trial }
    }

    /// Reads what a child has left.
    static func findings(of end: child_end) -> Findings {
        let numbers = withUnsafeBytes(of: end.numbers) { Array($0.bindMemory(to: Int.self)) }
        return Findings(
            calls: Array(numbers[..<slotsOfCalls]),
            hits: numbers[slotsOfCalls],
            descriptors: numbers[slotsOfCalls + 1],
            threads: numbers[slotsOfCalls + 3],
            outcome: numbers[slotsOfCalls + 2]
        )
    }

    // MARK: In the child

    private func carryOut() {
        operation.prepare()
        PlainThread {
            child_note_step("with the fault")
            beginFault()
            let outcome = perform(1)
            fault_end()
            note(outcome)
            child_note_step("without the fault, on the same thread")
            expectDone(perform(2), "on the same thread")
            fault_resume()
        }.join()
        fault_end()
        noteCalls()
        child_note_step("without the fault, on another thread")
        PlainThread { expectDone(perform(3), "afterwards") }.join()
        child_note_step("at the end")
        awaitThreads()
        child_note_number(CInt(Self.slotsOfCalls + 1), Int(work_count_descriptors()))
        child_note_number(CInt(Self.slotsOfCalls + 3), Int(work_count_threads()))
    }

    private func beginFault() {
        if let fault {
            fault_begin(fault.call, fault.index, fault.error, fault.lasts)
        } else {
            fault_begin_counting()
        }
    }

    private func perform(_ round: Int) -> Outcome {
        operation.perform(Scene(limit: limit, name: "sweep-\(getpid())-\(round)"))
    }

    private func expectDone(_ outcome: Outcome, _ when: String) {
        if case .done = outcome { return }
        complain("\(when): \(outcome)")
    }

    private func noteCalls() {
        for call in 0..<fault_call_count() { child_note_number(call, fault_calls(call)) }
        child_note_number(CInt(Self.slotsOfCalls), fault_hits())
    }

    private func note(_ outcome: Outcome) {
        let code = CInt(Self.slotsOfCalls + 2)
        switch outcome {
        case .done: child_note_number(code, Self.codes.done)
        case .refused(let text):
            child_note_number(code, Self.codes.refused)
            child_note_step(text)
        case .missing(let what):
            child_note_number(code, Self.codes.missing)
            // An event may never come; but where only one call fails, all have to come.
            if fault?.lasts == false { complain("missing: \(what)") }
        case .wrong(let what): complain("wrong: \(what)")
        }
    }

    private func complain(_ what: String) {
        child_note_problem(what)
    }

    /// Threads that have been waited for may be a moment away from their end.
    private func awaitThreads() {
        var checks = 0
        while checks < 200, work_count_threads() > threads {
            work_sleep(1_000)
            checks += 1
        }
    }
}
