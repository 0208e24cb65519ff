import BenchSupport
import UVRunLoop

/// A thread with a loop under load.
///
/// It acts, runs its loop for a while, and acts again; its handlers act too.
final class Worker {
    let index: Int
    let settings: Settings
    let tally: Tally
    let book: RunBook
    let loop: UVRunLoop
    var lateness = Lateness()
    private let home: WorkerHome
    private let outsiders: [Outsider]

    /// The thread's part of the present scenario.
    private(set) var scenario: Scenario?
    private(set) var partners: [Workload] = []
    private var traffic: [any Traffic] = []
    private var rousing: [any Traffic] = []
    private var gate: Scenario.Gate?
    /// Whether the thread may hand over anything.
    private(set) var isSending = false
    /// The place whose work the present run is to complete.
    private var draining: Workload.Place?
    private var mayLeave = false

    init(
        _ index: Int,
        _ settings: Settings,
        _ home: WorkerHome,
        _ outsiders: [Outsider]
    ) {
        self.index = index
        self.settings = settings
        self.home = home
        self.outsiders = outsiders
        tally = home.tally
        book = RunBook(home.tally, fault: settings.fault)
        loop = book.loop
    }

    /// The body of the thread.
    func main() {
        let keeper = UVRunLoop.Source { _ in }
        for mode in Modes.observed { loop.add(keeper, forMode: mode) }
        loop.addCommonMode(Modes.other)
        home.didStart(Confined(self), loop, book.stops)
        while !mayLeave {
            book.run(.default, for: nil)
            if let scenario { play(scenario) }
        }
        keeper.invalidate()
        home.didEnd(loop, lateness)
    }

    // MARK: Orders of the runner

    func begin(_ scenario: Scenario) {
        self.scenario = scenario
        book.stop()
    }

    func leave() {
        mayLeave = true
        book.stop()
    }

    func wasNudged() {
        if isSending { book.stopAll() }
    }

    func didOpen(_ gate: Scenario.Gate) {
        self.gate = gate
        book.stop()
    }

    // MARK: A scenario

    var workload: Workload {
        guard let scenario else {
            preconditionFailure("There is no workload outside of scenarios.")
        }
        return scenario.workloads[index]
    }

    private func play(_ scenario: Scenario) {
        prepare(scenario)
        pass(.ready, of: scenario)
        for traffic in traffic { traffic.connect() }
        act(scenario)
        for traffic in traffic { traffic.finishSending() }
        isSending = false
        pass(.sent, of: scenario)
        drain(.atHand, in: .default)
        drain(.apart, in: Modes.apart)
        pass(.drained, of: scenario)
        for traffic in traffic { traffic.close() }
        book.endObserving()
        workload.takeDown()
        (traffic, rousing, partners, self.scenario) = ([], [], [], nil)
        scenario.arrive(at: .done)
    }

    private func prepare(_ scenario: Scenario) {
        partners = scenario.partners(of: index)
        let plan = scenario.plan
        for kind in plan.kinds {
            let part = kind.traffic.init(self)
            traffic.append(part)
            if Kind.rousing.contains(kind) { rousing.append(part) }
        }
        if plan.isObserved { book.observe(explainsPasses: plan.explainsPasses) }
    }

    /// Says that the thread is at a gate, and runs the loop until it opens.
    private func pass(_ gate: Scenario.Gate, of scenario: Scenario) {
        scenario.arrive(at: gate)
        while self.gate != gate { book.run(.default, for: nil) }
    }

    private func act(_ scenario: Scenario) {
        isSending = true
        var generator = Generator(scenario.plan.seed, UInt64(index))
        while !scenario.isOver {
            var burst = generator.fork()
            for _ in 0...burst.below(6) { actOnce(&burst) }
            if scenario.plan.isPatient { rouseAnother(&burst) }
            if !scenario.isOver { runOnce(scenario.plan, &burst) }
        }
    }

    private func actOnce(_ generator: inout Generator) {
        var choices = generator.fork()
        choices.pick(traffic).act(&choices)
    }

    private func runOnce(_ plan: Scenario.Plan, _ generator: inout Generator) {
        let returnsAfterSource = generator.once(in: 3)
        let longest = generator.once(in: 4) ? 0 : plan.longestRun
        let limit = Duration.nanoseconds(generator.below(longest + 1))
        let mode = [Modes.other, Modes.apart][generator.below(2)]
        guard !plan.isPatient else {
            book.run(.default, for: nil, returnAfterSourceHandled: returnsAfterSource)
            return
        }
        book.run(
            generator.once(in: 4) ? mode : .default,
            for: limit,
            returnAfterSourceHandled: returnsAfterSource
        )
    }

    // MARK: Handlers

    /// To be called by handlers: now and then, they act too.
    ///
    /// - Parameter key: What tells this call from others, so that equal seeds choose alike.
    func mayAct(_ key: UInt64) {
        guard isSending, let scenario, book.depth < 30 else { return }
        var generator = Generator(scenario.plan.seed, UInt64(index), key)
        guard generator.once(in: 12 + 4 * book.depth * book.depth) else { return }
        actOnce(&generator)
    }

    /// To be called by handlers of what ends another thread's run without a limit.
    func wasRoused() {
        if isSending, let scenario, scenario.plan.isPatient { book.stopAll() }
    }

    /// In a patient scenario, a thread that was roused rouses another, so that the load goes on.
    private func rouseAnother(_ generator: inout Generator) {
        var choices = generator.fork()
        choices.pick(rousing).act(&choices)
    }

    // MARK: Other threads

    /// Has another thread do something: one with a loop or one without.
    func handOver(_ generator: inout Generator, _ job: @escaping @Sendable () -> Void) {
        let index = generator.below(partners.count + outsiders.count)
        if index < partners.count {
            partners[index].loop.perform(job)
        } else {
            outsiders[index - partners.count].hand(job)
        }
    }

    // MARK: Arrivals

    /// To be called when something that was sent here has arrived.
    func didFinish(_ kind: Kind, _ place: Workload.Place = .atHand, _ count: Int = 1) {
        workload.ledger(kind, place).finish(count)
        checkArrivals()
    }

    /// Ends the present run if that is to go on until everything has arrived.
    func checkArrivals() {
        if let draining, let scenario, scenario.workloads[index].outstanding(draining) == 0 {
            book.stop()
        }
    }

    private func drain(_ place: Workload.Place, in mode: UVRunLoop.Mode) {
        draining = place
        while workload.outstanding(place) > 0 { book.run(mode, for: nil) }
        draining = nil
        demand(
            workload.outstanding(place) == 0,
            "no more to arrive than was sent",
            "\(-workload.outstanding(place)) more: \(workload.account)"
        )
    }
}
