import Injection

/// The result of a fault.
enum Verdict {
    /// The operation did everything all the same.
    case done
    /// It said by an error that it could not.
    case refused
    /// The fault lasted, and what could not come did not, in time.
    case missing
    /// There was no such call this time.
    case notReached
    /// It did what it is known to do, for a reason.
    case known(String)
    /// libuv ended the process.
    case abortedByLibuv(String)
    case failed(String)
}

/// Counts what came of faults.
struct SweepReport {
    var countOfAll = 0
    var unsteady = 0
    var isWordy = false
    private var counts: [String: Int] = [:]
    private var failures = 0
    private var aborts: [String: Int] = [:]
    private var known: [String: Int] = [:]
    private var tried = 0

    var isGood: Bool { failures == 0 }

    mutating func note(_ fault: Fault, _ verdict: Verdict) {
        tried += 1
        switch verdict {
        case .done: count("done all the same", fault)
        case .refused: count("refused by an error", fault)
        case .missing: count("missing what cannot come while the fault lasts", fault)
        case .notReached: count("not reached", fault)
        case .abortedByLibuv(let how):
            count("ended by libuv (see below)", fault)
            if isWordy { Swift.print(how) }
            guard let reason = Known.abort(at: fault) else {
                fail("\(fault.name)  \(how)")
                return
            }
            aborts["\(fault.callName): \(reason)", default: 0] += 1
        case .known(let reason): known["\(fault.callName): \(reason)", default: 0] += 1
        case .failed(let how): fail("\(fault.name)  \(how)")
        }
    }

    private mutating func count(_ what: String, _ fault: Fault) {
        counts[what, default: 0] += 1
        if isWordy { Swift.print("\(fault.name): \(what)") }
    }

    private mutating func fail(_ text: String) {
        failures += 1
        Swift.print("FAILED \(text)")
    }

    func print() {
        let notReached = counts["not reached"] ?? 0
        Swift.print(
            "faults: \(tried - notReached) faults injected, of \(countOfAll) that there are"
        )
        for (what, count) in counts.sorted(by: { $0.value > $1.value }) {
            Swift.print("  \(count) \(what)")
        }
        if unsteady > 0 { Swift.print("  \(unsteady) of them only with more time") }
        for (title, count) in aborts.sorted(by: { $0.key < $1.key }) {
            Swift.print("  libuv aborts, \(count) times: \(title)")
        }
        for (title, count) in known.sorted(by: { $0.key < $1.key }) {
            Swift.print("  not mended, \(count) times: \(title)")
        }
        Swift.print("faults: \(failures) failed")
    }
}
