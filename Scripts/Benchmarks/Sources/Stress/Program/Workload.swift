import BenchSupport
import UVRunLoop

/// Where the work for one thread in one scenario is left and accounted for.
final class Workload: Sendable {
    /// Whether something waits for the default mode or for one that is not common.
    enum Place: Int, CaseIterable, Sendable {
        case atHand, apart
    }

    let index: Int
    let loop: UVRunLoop
    let worker: Confined<Worker>
    /// How often others asked a run of the thread to stop.
    let stops: StopCount
    private let ledgers = Kind.allCases.map { _ in Place.allCases.map { _ in Ledger() } }
    private let inlets = Locked<[Kind: any Sendable]>([:])

    init(index: Int, worker: Confined<Worker>, loop: UVRunLoop, stops: StopCount) {
        self.index = index
        self.worker = worker
        self.loop = loop
        self.stops = stops
    }

    // MARK: The books

    func ledger(_ kind: Kind, _ place: Place = .atHand) -> Ledger {
        ledgers[kind.rawValue][place.rawValue]
    }

    /// The number of items that are still to arrive.
    func outstanding(_ place: Place) -> Int {
        ledgers.lazy.map { $0[place.rawValue].outstanding }.reduce(0, +)
    }

    /// The number of items that have arrived.
    var arrived: Int { ledgers.joined().map(\.finished).reduce(0, +) }

    /// The items that are still to arrive, in words.
    var account: String {
        var parts: [String] = []
        for kind in Kind.allCases {
            for place in Place.allCases {
                let ledger = ledger(kind, place)
                guard ledger.outstanding != 0 else { continue }
                let mode = place == .apart ? " in a mode apart" : ""
                parts.append("\(ledger.outstanding) of \(ledger.total) \(kind.name)\(mode)")
            }
        }
        let state = loop.isWaiting ? "asleep" : "awake"
        let rest = parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
        return "worker \(index) (\(state)): \(rest)"
    }

    // MARK: Inlets

    /// Puts up what others send one kind of load to.
    func putUp(_ inlet: any Sendable, for kind: Kind) { inlets.withLock { $0[kind] = inlet } }

    func inlet<Inlet>(for kind: Kind, as type: Inlet.Type = Inlet.self) -> Inlet? {
        inlets.withLock { $0[kind] as? Inlet }
    }

    /// Takes down what others sent to: it refers to the workload.
    func takeDown() {
        let last = inlets.withLock { inlets in
            defer { inlets = [:] }
            return inlets
        }
        withExtendedLifetime(last) {}
    }

    // MARK: Messages to the thread

    /// Lets the thread pass a gate.
    func open(_ gate: Scenario.Gate) {
        loop.perform { [worker] in worker.value.didOpen(gate) }
    }

    /// Has the thread check whether its scenario is over.
    func nudge() {
        loop.perform { [worker] in worker.value.wasNudged() }
    }

    /// Has the thread check whether it has everything.
    func remind() {
        loop.perform { [worker] in worker.value.checkArrivals() }
    }
}
