import BenchSupport
import UVRunLoop

/// Blocks handed to loops: each runs once, on the loop's thread, in a mode it is for, and in turn.
final class BlockTraffic: Traffic {
    /// For which modes a block is.
    enum Lane: Int, CaseIterable {
        case standard, common, apart, either

        var modes: [UVRunLoop.Mode] {
            switch self {
            case .standard: [.default]
            case .common: [.common]
            case .apart: [Modes.apart]
            case .either: [.default, Modes.apart]
            }
        }

        /// The modes in which the block may run.
        var runningModes: [UVRunLoop.Mode] {
            self == .common ? [.default, Modes.other] : modes
        }

        var place: Workload.Place { self == .apart ? .apart : .atHand }
    }

    /// The data that a block carries to its run.
    private struct Stamp {
        let sender: Int
        let lane: Lane
        /// Among the sender's blocks in this lane.
        let number: Int
        /// Among all the sender's blocks for this thread.
        let rank: Int
        let date = now()
    }

    /// The workload and the traffic of the thread that blocks are sent to.
    struct Inlet: Sendable {
        let workload: Workload
        let traffic: Confined<BlockTraffic>
    }

    /// How many may wait for one thread.
    private static let window = 2_000

    private let worker: Worker
    private var inlets: [Inlet] = []
    private var sent: [[Int]] = []
    /// How many were posted to each partner, in all lanes.
    private var posted: [Int] = []
    private var sequences: [[BlockSequence]]
    /// For each sender and lane, the latest of all its blocks that ran, within no other block,
    /// where that lane's might have run.
    private var latest: [[Int]]
    /// How many blocks are on the stack.
    private var depth = 0

    init(_ worker: Worker) {
        self.worker = worker
        let lanes = Lane.allCases.map { _ in BlockSequence() }
        sequences = Array(repeating: lanes, count: worker.settings.threads)
        latest = Array(repeating: lanes.map { _ in 0 }, count: worker.settings.threads)
        worker.workload.putUp(
            Inlet(workload: worker.workload, traffic: Confined(self)),
            for: .blocks
        )
    }

    func connect() {
        inlets = worker.partners.compactMap { $0.inlet(for: .blocks) }
        sent = inlets.map { _ in Lane.allCases.map { _ in 0 } }
        posted = inlets.map { _ in 0 }
    }

    func close() { inlets = [] }

    // MARK: Sending

    func act(_ generator: inout Generator) {
        let index = generator.below(inlets.count)
        // Only what is for the default mode rouses a thread that waits for that.
        let isUrgent = worker.scenario?.plan.isPatient == true
        let lane = isUrgent ? Lane.standard : generator.pick(Lane.allCases)
        let workload = inlets[index].workload
        guard workload.ledger(.blocks, lane.place).outstanding < Self.window else { return }
        for _ in 0...generator.below(8) { post(to: index, lane) }
    }

    private func post(to index: Int, _ lane: Lane) {
        sent[index][lane.rawValue] += 1
        posted[index] += 1
        let (inlet, number) = (inlets[index], sent[index][lane.rawValue])
        let stamp = Stamp(sender: worker.index, lane: lane, number: number, rank: posted[index])
        inlet.workload.ledger(.blocks, lane.place).send()
        let fault = worker.settings.fault
        if Fault.losesBlock.strikes(fault) { return }
        if Fault.swapsBlocks.strikes(fault) { post(to: index, lane) }
        if Fault.runsBlockElsewhere.strikes(fault) { Self.runElsewhere(inlet) }
        let modes = Fault.ignoresMode.lasts(fault) ? [.default] : lane.modes
        for _ in 0...(Fault.repeatsBlock.strikes(fault) ? 1 : 0) {
            if inlet.workload.index == worker.index, number % 2 == 0 {
                worker.loop.performLocally(inModes: modes) { [self] in receive(stamp) }
            } else {
                inlet.workload.loop.perform(inModes: modes) { inlet.traffic.value.receive(stamp) }
            }
        }
    }

    private static func runElsewhere(_ inlet: Inlet) {
        PosixThread { _ = inlet.traffic.value }.join()
    }

    // MARK: Receiving

    private func receive(_ stamp: Stamp) {
        let lane = stamp.lane
        worker.book.noteBlock()
        worker.lateness.blocks.record(UInt64(max(0, now() - stamp.date)))
        checkTurn(stamp)
        worker.tally.count(.blocksRun)
        worker.wasRoused()
        depth += 1
        let key = UInt64(stamp.sender) << 40 | UInt64(lane.rawValue) << 36
        worker.mayAct(SplitMix64.mix(key) ^ UInt64(stamp.number))
        depth -= 1
        worker.didFinish(.blocks, lane.place)
    }

    /// Checks that it is the block's turn: among those of its lane, and among all of its sender's
    /// that might have run.
    private func checkTurn(_ stamp: Stamp) {
        let (mode, lane, sender) = (worker.book.mode ?? .common, stamp.lane, stamp.sender)
        let name = "from worker \(sender) to worker \(worker.index)"
        demand(
            lane.runningModes.contains(mode),
            "a block for \(lane.runningModes.map(\.rawValue)) to run in one of these modes",
            "it run in \(mode.rawValue)"
        )
        sequences[sender][lane.rawValue].arrive(
            stamp.number,
            depth: depth,
            "\(name) for \(lane.modes.map(\.rawValue))"
        )
        demand(
            stamp.rank > latest[sender][lane.rawValue],
            "the blocks \(name) in the order in which they were posted",
            "number \(stamp.rank) after \(latest[sender][lane.rawValue])"
        )
        // A block within another one may come before blocks that were taken together with that.
        guard depth == 0 else { return }
        for other in Lane.allCases where other.runningModes.contains(mode) {
            latest[sender][other.rawValue] = stamp.rank
        }
    }
}
