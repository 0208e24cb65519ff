import BenchSupport
import Synchronization
import UVRunLoop

/// A while of load of some kinds, at the end of which everything that was sent is accounted for.
///
/// The kinds and the manner change from scenario to scenario: what a busy mix hides comes out where
/// little happens.
final class Scenario: Sendable {
    /// The course of a scenario, chosen by the seed.
    struct Plan: Sendable {
        let number: Int
        let seed: UInt64
        let kinds: [Kind]
        /// Whether observers tell of every step of the loops.
        let isObserved: Bool
        /// Whether runs have no limits, so that a loop that is not woken sleeps for ever.
        let isPatient: Bool
        /// The longest limit of a run, in nanoseconds: a busy loop, or one that often sleeps.
        let longestRun: Int
        /// Whether nobody cancels, re-dates or takes out what is in another thread's loop.
        let isGentle: Bool
    }

    /// A point that all threads reach before any goes on.
    enum Gate: Int, CaseIterable, Sendable {
        /// Everything is in place.
        case ready
        /// Nobody sends any more.
        case sent
        /// Everything has arrived.
        case drained
        /// Nothing is left of the scenario.
        case done
    }

    let plan: Plan
    let settings: Settings
    let workloads: [Workload]
    private let arrivals = Gate.allCases.map { _ in Number() }
    private let over = Atomic<Bool>(false)
    /// Whether a signal is on its way to the process.
    let isInterrupting = Number()
    /// To be called when all threads have passed the last gate.
    private let whenDone: @Sendable () -> Void

    init(
        _ plan: Plan,
        _ settings: Settings,
        _ workloads: [Workload],
        whenDone: @escaping @Sendable () -> Void
    ) {
        self.plan = plan
        self.settings = settings
        self.workloads = workloads
        self.whenDone = whenDone
    }

    /// Whether the load is to end.
    var isOver: Bool { over.load(ordering: .acquiring) }

    func end() { over.store(true, ordering: .releasing) }

    /// Takes down that a thread has come to a gate; the last one opens it.
    func arrive(at gate: Gate) {
        // Outsiders send too, and wait for nothing.
        let expected = workloads.count + (gate == .sent ? settings.outsiders : 0)
        guard arrivals[gate.rawValue].add() == expected else { return }
        if gate == .done { return whenDone() }
        for workload in workloads { workload.open(gate) }
    }

    func arrivals(at gate: Gate) -> Int { arrivals[gate.rawValue].value }

    /// The others that a thread sends to, itself included: a few, however many threads there are.
    func partners(of index: Int) -> [Workload] {
        var steps = [0]
        var step = 1
        while step < workloads.count {
            steps.append(step)
            step = step < 3 ? step + 1 : step * 2
        }
        return steps.map { workloads[(index + $0) % workloads.count] }
    }
}

extension Scenario.Plan {
    /// Chooses what happens in a scenario.
    ///
    /// The first one and every fifth has all kinds.
    init(number: Int, settings: Settings) {
        var generator = Generator(settings.seed, UInt64(number))
        self.number = number
        seed = generator.next()
        let isFull = number % 5 == 1
        var kinds = settings.kinds.filter { _ in generator.once(in: 2) }
        if isFull { kinds = settings.kinds }
        if kinds.isEmpty { kinds = [generator.pick(settings.kinds)] }
        self.kinds = kinds
        isObserved = isFull || generator.once(in: 2)
        let mayRouse = !Kind.rousing.isDisjoint(with: kinds)
        isPatient = !isFull && mayRouse && generator.once(in: 3)
        longestRun = generator.pick([20_000, 200_000, 2_000_000, 20_000_000])
        isGentle = generator.once(in: 2)
    }

    /// Whether a pass that does not wait has a reason that a thread sees itself.
    var explainsPasses: Bool {
        isGentle && kinds.allSatisfy { ![.changes, .interrupts, .captures].contains($0) }
    }
}

extension Kind {
    /// The kinds of load that can end another thread's run without a limit.
    static let rousing: Set<Kind> = [.blocks, .signals, .ports, .performs]
}
