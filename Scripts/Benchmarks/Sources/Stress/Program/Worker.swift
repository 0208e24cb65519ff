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

    /// What of the present chapter the thread has.
    private(set) var chapter: Chapter?
    private(set) var partners: [Desk] = []
    private var traffic: [any Traffic] = []
    private var rousing: [any Traffic] = []
    private var gate: Chapter.Gate?
    /// Whether the thread may hand over anything.
    private(set) var isSending = false
    /// What the present run is to complete.
    private var draining: Desk.Place?
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

    /// What the thread does.
    func main() {
        let keeper = UVRunLoop.Source { _ in }
        for mode in Modes.observed { loop.add(keeper, forMode: mode) }
        loop.addCommonMode(Modes.other)
        home.didStart(Confined(self), loop, book.stops)
        while !mayLeave {
            book.run(.default, for: nil)
            if let chapter { play(chapter) }
        }
        keeper.invalidate()
        home.didEnd(loop, lateness)
    }

    // MARK: What the conductor says

    func begin(_ chapter: Chapter) {
        self.chapter = chapter
        book.stop()
    }

    func leave() {
        mayLeave = true
        book.stop()
    }

    func wasNudged() {
        if isSending { book.stopAll() }
    }

    func didOpen(_ gate: Chapter.Gate) {
        self.gate = gate
        book.stop()
    }

    // MARK: A chapter

    var desk: Desk {
        guard let chapter else { preconditionFailure("There is no desk outside of chapters.") }
        return chapter.desks[index]
    }

    private func play(_ chapter: Chapter) {
        prepare(chapter)
        pass(.ready, of: chapter)
        for traffic in traffic { traffic.connect() }
        act(chapter)
        for traffic in traffic { traffic.finishSending() }
        isSending = false
        pass(.sent, of: chapter)
        drain(.atHand, in: .default)
        drain(.apart, in: Modes.apart)
        pass(.drained, of: chapter)
        for traffic in traffic { traffic.close() }
        book.endObserving()
        desk.takeDown()
        (traffic, rousing, partners, self.chapter) = ([], [], [], nil)
        chapter.arrive(at: .done)
    }

    private func prepare(_ chapter: Chapter) {
        partners = chapter.partners(of: index)
        let plan = chapter.plan
        for kind in plan.kinds {
            let part = kind.traffic.init(self)
            traffic.append(part)
            if Kind.rousing.contains(kind) { rousing.append(part) }
        }
        if plan.isObserved { book.observe(explainsPasses: plan.explainsPasses) }
    }

    /// Says that the thread is at a gate, and runs the loop until it opens.
    private func pass(_ gate: Chapter.Gate, of chapter: Chapter) {
        chapter.arrive(at: gate)
        while self.gate != gate { book.run(.default, for: nil) }
    }

    private func act(_ chapter: Chapter) {
        isSending = true
        var generator = Generator(chapter.plan.seed, UInt64(index))
        while !chapter.isOver {
            var burst = generator.fork()
            for _ in 0...burst.below(6) { actOnce(&burst) }
            if chapter.plan.isPatient { rouseAnother(&burst) }
            if !chapter.isOver { runOnce(chapter.plan, &burst) }
        }
    }

    private func actOnce(_ generator: inout Generator) {
        var choices = generator.fork()
        choices.pick(traffic).act(&choices)
    }

    private func runOnce(_ plan: Chapter.Plan, _ generator: inout Generator) {
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
        guard isSending, let chapter, book.depth < 30 else { return }
        var generator = Generator(chapter.plan.seed, UInt64(index), key)
        guard generator.once(in: 12 + 4 * book.depth * book.depth) else { return }
        actOnce(&generator)
    }

    /// To be called by handlers of what ends another thread's run without a limit.
    func wasRoused() {
        if isSending, let chapter, chapter.plan.isPatient { book.stopAll() }
    }

    /// In a patient chapter, whoever was roused rouses somebody, so that the load goes on.
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
    func didFinish(_ kind: Kind, _ place: Desk.Place = .atHand, _ count: Int = 1) {
        desk.ledger(kind, place).finish(count)
        checkArrivals()
    }

    /// Ends the present run if that is to go on until everything has arrived.
    func checkArrivals() {
        if let draining, let chapter, chapter.desks[index].outstanding(draining) == 0 {
            book.stop()
        }
    }

    private func drain(_ place: Desk.Place, in mode: UVRunLoop.Mode) {
        draining = place
        while desk.outstanding(place) > 0 { book.run(mode, for: nil) }
        draining = nil
        demand(
            desk.outstanding(place) == 0,
            "no more to arrive than was sent",
            "\(-desk.outstanding(place)) more: \(desk.account)"
        )
    }
}
