import BenchSupport
import UVRunLoop

/// Custom sources signalled: after the last signal there is a perform, and none without a signal.
final class SignalTraffic: Traffic {
    /// A source, and the number that its signals announce.
    final class Beacon: Sendable {
        let source: UVRunLoop.Source
        let workload: Workload
        let place: Workload.Place
        /// Whose loops perform it.
        let loops: [UVRunLoop]
        /// Raised before each signal.
        let published: Number
        let performs: Number

        init(
            _ source: UVRunLoop.Source,
            _ workload: Workload,
            _ place: Workload.Place,
            _ loops: [UVRunLoop],
            _ published: Number,
            _ performs: Number
        ) {
            (self.source, self.workload, self.place) = (source, workload, place)
            (self.loops, self.published, self.performs) = (loops, published, performs)
        }
    }

    private let worker: Worker
    private var own: [Beacon] = []
    private var beacons: [Beacon] = []
    /// Loops in which something is signalled and that were not woken for it.
    private var unwoken: [UVRunLoop] = []

    init(_ worker: Worker) {
        self.worker = worker
        make(order: -1, in: [.default])
        make(order: 1, in: [.common])
        make(order: 0, in: [.default, Modes.apart])
        make(order: 2, in: [Modes.apart])
        makeShared()
        worker.workload.putUp(own, for: .signals)
    }

    func connect() {
        beacons = worker.partners.flatMap { $0.inlet(for: .signals, as: [Beacon].self) ?? [] }
    }

    // MARK: Making

    private func make(order: Int, in modes: [UVRunLoop.Mode]) {
        let (published, performs) = (Number(), Number())
        let place: Workload.Place = modes == [Modes.apart] ? .apart : .atHand
        var seen = 0
        let source = UVRunLoop.Source(order: order) { [worker] _ in
            let isReversed = Fault.reversesSources.lasts(worker.settings.fault)
            worker.book.noteSource(order: isReversed ? -order : order)
            Self.checkPerform(performs, published)
            let number = published.value
            demand(number >= seen, "published numbers to rise from \(seen)", "\(number)")
            let news = number - seen
            seen = number
            worker.tally.count(.sourcesPerformed)
            worker.wasRoused()
            worker.mayAct(SplitMix64.mix(UInt64(order + 2) << 50) ^ UInt64(number))
            worker.didFinish(.signals, place, news)
        }
        for mode in modes { worker.loop.add(source, forMode: mode) }
        own.append(Beacon(source, worker.workload, place, [worker.loop], published, performs))
    }

    /// Makes a source that is in the loop of another thread too: whichever comes first performs it.
    private func makeShared() {
        let (published, performs, seen) = (Number(), Number(), Number())
        let (workload, other) = (worker.workload, worker.partners[worker.partners.count - 1])
        let workloads = workload.index == other.index ? [workload] : [workload, other]
        let source = UVRunLoop.Source(
            order: 0,
            sendablePerform: { source in
                let loop = UVRunLoop.current
                guard let worker = workloads.first(where: { $0.loop === loop })?.worker.value else {
                    Verdict.fail(
                        expected: "a source to be performed by a loop that it is in",
                        seen: "another loop"
                    )
                }
                worker.book.noteSource(order: source.order)
                Self.checkPerform(performs, published)
                worker.tally.count(.sourcesPerformed)
                worker.wasRoused()
                workload.ledger(.signals).finish(seen.rise(to: published.value))
                if worker.index == workload.index {
                    worker.checkArrivals()
                } else {
                    workload.remind()
                }
            }
        )
        for workload in workloads { workload.loop.add(source, forMode: .default) }
        own.append(Beacon(source, workload, .atHand, workloads.map(\.loop), published, performs))
    }

    private static func checkPerform(_ performs: Number, _ published: Number) {
        let count = performs.add()
        demand(
            count <= published.value,
            "no more performs of a source than signals, which are \(published.value)",
            "perform \(count)"
        )
    }

    // MARK: Signalling

    func act(_ generator: inout Generator) {
        let isPatient = worker.scenario?.plan.isPatient == true
        var beacon = generator.pick(beacons)
        // A patient thread waits in the default mode.
        while isPatient, beacon.place == .apart { beacon = generator.pick(beacons) }
        for _ in 0...generator.below(4) { signal(beacon) }
        let loop = generator.pick(beacon.loops)
        if !isPatient, generator.once(in: 4) {
            unwoken.append(loop)
        } else if !Fault.losesWakeUp.lasts(worker.settings.fault) {
            loop.wakeUp()
        }
        if Fault.inventsSignal.strikes(worker.settings.fault) { beacon.performs.add(1_000) }
    }

    private func signal(_ beacon: Beacon) {
        beacon.workload.ledger(.signals, beacon.place).send()
        beacon.published.add()
        worker.tally.count(.signalsGiven)
        if Fault.losesSignal.lasts(worker.settings.fault) { return }
        beacon.source.signal()
        // On the thread of its only loop, nobody can have taken the signal.
        guard beacon.workload.index == worker.index, beacon.loops.count == 1 else { return }
        demand(
            beacon.source.isSignalled,
            "a source to be signalled that was just signalled",
            "none"
        )
    }

    func finishSending() {
        for loop in unwoken { loop.wakeUp() }
        unwoken = []
    }

    func close() {
        for beacon in own { beacon.source.invalidate() }
        (own, beacons) = ([], [])
    }
}
