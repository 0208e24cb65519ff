import Glibc
import Injection

/// Has each call of each operation fail with each error that it can have, once and from then on.
struct Sweep {
    /// Every how many-th fault is tried.
    let stride: Int
    /// How many trials there are at a time.
    private static let width = 8
    /// For how long an operation waits in its first trial, and in the second one, which has to fail
    /// as well for a fault to count as failed.
    private static let limits: (Duration, Duration) = (.milliseconds(60), .milliseconds(600))

    /// The resources that an operation takes when nothing fails.
    private struct Baseline {
        let calls: [Int]
        let descriptors: Int
        let threads: Int
    }

    private var report = SweepReport()
    private var baselines: [String: Baseline] = [:]

    init(stride: Int) { self.stride = stride }

    /// Tries the faults of the operations whose names begin so, or of all.
    ///
    /// - Returns: Whether nothing unexpected has happened.
    static func run(stride: Int, of names: String? = nil) -> Bool {
        var sweep = Sweep(stride: stride)
        let operations = Operation.all.filter { $0.name.hasPrefix(names ?? "") }
        guard sweep.takeBaselines(operations) else { return false }
        let all = sweep.faults()
        let chosen = all.enumerated().filter { $0.offset % stride == 0 }.map(\.element)
        sweep.report.countOfAll = all.count
        for batch in Swift.stride(from: 0, to: chosen.count, by: width) {
            sweep.tryOut(Array(chosen[batch..<min(batch + width, chosen.count)]))
        }
        sweep.report.print()
        return sweep.report.isGood
    }

    /// Tries one fault, and says everything about it.
    static func run(only fault: Fault) -> Bool {
        var sweep = Sweep(stride: 1)
        guard sweep.takeBaselines([fault.operation]) else { return false }
        sweep.report.isWordy = true
        sweep.tryOut([fault])
        sweep.report.print()
        return sweep.report.isGood
    }

    // MARK: Without a fault

    private mutating func takeBaselines(_ operations: [Operation]) -> Bool {
        for operation in operations {
            let trial = Trial(operation: operation, fault: nil, limit: Self.limits.1)
            let end = child_wait(0, trial.start(slot: 0))
            let findings = Trial.findings(of: end)
            guard end.signal == 0, end.status == 0, findings.outcome == Trial.codes.done,
                text(end.problem).isEmpty
            else {
                print(
                    "faults: \(operation.name) fails by itself: \(text(end.step)) \(text(end.problem))"
                )
                return false
            }
            baselines[operation.name] = Baseline(
                calls: findings.calls,
                descriptors: findings.descriptors,
                threads: findings.threads
            )
        }
        return true
    }

    private func faults() -> [Fault] {
        var faults: [Fault] = []
        for operation in Operation.all {
            guard let baseline = baselines[operation.name] else { continue }
            for call in 0..<fault_call_count() {
                let count = baseline.calls[Int(call)]
                for index in 1..<(count + 1) {
                    for error in Fault.errors(of: call) {
                        let once = Fault(operation, call, index, error, lasts: false)
                        let lasting = Fault(operation, call, index, error, lasts: true)
                        faults.append(once)
                        if lasting.isPossible { faults.append(lasting) }
                    }
                }
            }
        }
        return faults
    }

    // MARK: With faults

    private mutating func tryOut(_ faults: [Fault]) {
        let children = faults.enumerated().map { slot, fault in
            trial(of: fault, Self.limits.0).start(slot: slot)
        }
        let ends = children.enumerated().map { child_wait(CInt($0.offset), $0.element) }
        for (fault, end) in zip(faults, ends) {
            var verdict = judge(fault, end)
            // A busy machine is slow: whatever is bad has to be so with much more time, alone.
            if case .failed = verdict {
                let trial = trial(of: fault, Self.limits.1)
                verdict = judge(fault, child_wait(0, trial.start(slot: 0)))
                if case .failed = verdict {} else { report.unsteady += 1 }
            }
            report.note(fault, verdict)
        }
    }

    private func trial(of fault: Fault, _ limit: Duration) -> Trial {
        let threads = baselines[fault.operation.name]?.threads ?? 1
        return Trial(operation: fault.operation, fault: fault, limit: limit, threads: threads)
    }

    private func judge(_ fault: Fault, _ end: child_end) -> Verdict {
        let findings = Trial.findings(of: end)
        let step = text(end.step)
        let problem = text(end.problem)
        if end.status == fault_libuv_aborted { return .abortedByLibuv(problem) }
        if end.signal == SIGALRM { return .failed("hangs, \(step)") }
        if end.signal == SIGILL || end.signal == SIGTRAP, let reason = Known.trap(at: fault) {
            return .known(reason)
        }
        if end.signal != 0 { return .failed("dies by signal \(end.signal), \(step)") }
        if !problem.isEmpty { return complaint(fault, problem) }
        if end.status != 0 { return .failed("exits with \(end.status)") }
        if let what = excess(of: fault, findings) { return complaint(fault, what) }
        if findings.hits == 0 { return .notReached }
        switch findings.outcome {
        case Trial.codes.done: return .done
        case Trial.codes.refused: return .refused
        default: return .missing
        }
    }

    private func complaint(_ fault: Fault, _ what: String) -> Verdict {
        Known.trouble(fault, what).map { .known($0) } ?? .failed(what)
    }

    /// The excess of a trial: descriptors or threads that are left, or calls of a spinning loop.
    private func excess(of fault: Fault, _ findings: Trial.Findings) -> String? {
        guard let baseline = baselines[fault.operation.name] else { return nil }
        if findings.descriptors != baseline.descriptors {
            return "\(findings.descriptors) descriptors are left instead of \(baseline.descriptors)"
        }
        if findings.threads > baseline.threads {
            return "\(findings.threads) threads are left instead of \(baseline.threads)"
        }
        let calls = findings.calls.reduce(0, +)
        let usual = baseline.calls.reduce(0, +)
        if calls > 20 * usual + 3_000 { return "spins: \(calls) calls instead of \(usual)" }
        return nil
    }
}
