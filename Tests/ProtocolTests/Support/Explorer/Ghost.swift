/// A statement of a thread about its latest steps, for the oracle alone.
enum Note: Hashable, Sendable {
    case beginCalled, begun(mode: Int), endCalled, ended(Bool), sawEnd(Bool)
    case passBegun, checkBegun
    case ran(UInt8), fired(Int), dropped(UInt8)
    case fellAsleep, awoke
    case tornDown
    case wakeCalled
    case stopCalled(UInt8), stopReturned(UInt8, Bool)
    case posted(UInt8)
    case kicked
}

/// The oracle's memory of a course: only the facts that the contract speaks of.
struct Ghost: Hashable {
    /// The runs on the stack, outermost first: whether a wake-up was asked for since each began its
    /// present pass.
    private(set) var wakes: [Bool] = []
    private(set) var posted: Set<UInt8> = []
    private(set) var ran: [UInt8] = []
    private(set) var dropped: Set<UInt8> = []
    /// Sleeps without a system call of a sender's so far.
    private(set) var sleeps = 0
    private(set) var history = RunHistory()
    private(set) var isTornDown = false
    /// Passes, and checks before a sleep, that were begun since all senders have ended.
    private var lastRounds = 0
    private static let mostLastRounds = 12

    /// Takes a note down; returns what is wrong with it.
    mutating func apply(_ note: Note, recordsRuns: Bool, isLast: Bool) -> String? {
        switch note {
        case .begun:
            wakes.append(false)
        case .ended:
            wakes.removeLast()
        case .passBegun:
            wakes[wakes.count - 1] = false
            if isLast { lastRounds += 1 }
        case .checkBegun: if isLast { lastRounds += 1 }
        case .wakeCalled: for index in wakes.indices { wakes[index] = true }
        case .posted(let number): posted.insert(number)
        case .ran(let number):
            if ran.contains(number) || dropped.contains(number) {
                return "Block \(number) ran twice."
            }
            if ran.contains(where: { $0 & ~7 == number & ~7 && $0 > number }) {
                return "Block \(number) ran after a later one of the same thread and mode."
            }
            ran.append(number)
        case .dropped(let number): dropped.insert(number)
        case .fellAsleep: sleeps += 1
        case .kicked:
            sleeps -= 1
            if sleeps < 0 { return "There were more system calls to wake the loop than sleeps." }
        case .tornDown: isTornDown = true
        case .beginCalled, .endCalled, .stopCalled, .stopReturned, .sawEnd, .fired, .awoke: break
        }
        if recordsRuns { history.record(note) }
        if lastRounds > Self.mostLastRounds { return "The loop spins." }
        return nil
    }

    /// Blocks that were posted and neither ran nor were dropped.
    var waiting: Set<UInt8> { posted.subtracting(ran).subtracting(dropped) }

    /// The loss when a loop sleeps for good, in its innermost run; `nil` if nothing is lost.
    func verdictOnSleep() -> String? {
        if wakes.last == true {
            return "The loop sleeps although wakeUp() was called in this pass."
        }
        return history.isExplained(endsRunning: true)
            ? nil
            : "A stop is lost: the loop sleeps in a run that was stopped, or too few runs ended."
    }

    /// The loss when all threads have ended; `nil` if nothing is lost.
    func verdictOnEnd() -> String? {
        let lost = waiting
        if isTornDown, !lost.isEmpty {
            return "Blocks \(lost.sorted()) neither ran nor were dropped."
        }
        return history.isExplained(endsRunning: false)
            ? nil : "A stop is lost or ended the wrong run: \(history)"
    }
}

/// Calls of `stop()` and the beginnings and ends of runs, each with its begin and its return.
struct RunHistory: Hashable {
    private struct Call: Hashable {
        enum Kind: Hashable { case begin, end, stop }

        let kind: Kind
        let called: Int
        var returned: Int?
        var result = false
        var stop: UInt8 = 255
    }

    private var calls: [Call] = []
    private var time = 0

    mutating func record(_ note: Note) {
        switch note {
        case .beginCalled: call(.begin)
        case .endCalled: call(.end)
        case .stopCalled(let number): call(.stop, number)
        case .begun: finish(false) { $0.kind == .begin }
        case .ended(let result): finish(result) { $0.kind == .end }
        case .stopReturned(let number, let result): finish(result) { $0.stop == number }
        default: break
        }
    }

    private mutating func call(_ kind: Call.Kind, _ stop: UInt8 = 255) {
        calls.append(Call(kind: kind, called: time, stop: stop))
        time += 1
    }

    private mutating func finish(_ result: Bool, _ isIt: (Call) -> Bool) {
        guard let index = calls.lastIndex(where: { isIt($0) && $0.returned == nil }) else { return }
        calls[index].returned = time
        calls[index].result = result
        time += 1
    }

    /// Whether there is an order of the calls, one after the other, that respects which returned
    /// before another was made, and in which each returns what it did.
    func isExplained(endsRunning: Bool) -> Bool {
        explain(done: 0, runs: [], endsRunning)
    }

    private func explain(done: UInt32, runs: [Bool], _ endsRunning: Bool) -> Bool {
        if done == UInt32(1) << UInt32(calls.count) - 1 { return !endsRunning || runs.last != true }
        for (index, call) in calls.enumerated() where done & 1 << UInt32(index) == 0 {
            let waits = calls.enumerated().contains { other in
                done & 1 << UInt32(other.offset) == 0
                    && other.element.returned.map { $0 < call.called } ?? false
            }
            if waits { continue }
            guard let after = outcome(of: call, on: runs) else { continue }
            if explain(done: done | 1 << UInt32(index), runs: after, endsRunning) { return true }
        }
        return false
    }

    /// The runs after a call, if it may return there what it did.
    private func outcome(of call: Call, on runs: [Bool]) -> [Bool]? {
        switch call.kind {
        case .begin: return runs + [false]
        case .end: return runs.last == call.result ? runs.dropLast() : nil
        case .stop:
            guard call.result == !runs.isEmpty else { return nil }
            return runs.isEmpty ? runs : runs.dropLast() + [true]
        }
    }
}
